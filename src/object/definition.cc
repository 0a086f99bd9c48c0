#include "object/definition.h"

namespace fairlead::object {
namespace {

const Json kNone;

}  // namespace

bool Definition::defines(std::string_view group, std::string_view kind) const {
  return this->kind() == kind && this->group() == group;
}

const Json& Definition::version(std::string_view name) const {
  for (const Json& version : spec_["versions"].items())
    if (version["name"].string_or("") == name) return version;
  return kNone;
}

const Json& Definition::schema_of(std::string_view version) const {
  return this->version(version)["schema"]["openAPIV3Schema"];
}

std::vector<std::string_view> Definition::versions() const {
  std::vector<std::string_view> names;
  for (const Json& version : spec_["versions"].items()) names.push_back(version["name"].string_or(""));
  return names;
}

std::vector<std::string_view> Definition::served_versions() const {
  std::vector<std::string_view> names;
  for (const Json& version : spec_["versions"].items())
    if (version["served"].bool_or(false)) names.push_back(version["name"].string_or(""));
  return names;
}

const Json& Definition::conversion_client() const {
  const Json& conversion = spec_["conversion"];
  bool converts = conversion["strategy"].string_or("") == "Webhook" && spec_["versions"].items().size() > 1;
  return converts ? conversion["webhook"]["clientConfig"] : kNone;
}

std::vector<Resource> Definition::resources() const {
  std::vector<Resource> all;
  for (std::string_view version : served_versions())
    all.push_back({.group = std::string(group()),
                   .version = std::string(version),
                   .kind = std::string(kind()),
                   .plural = std::string(plural()),
                   .singular = std::string(spec_["names"]["singular"].string_or("")),
                   .namespaced = namespaced(),
                   .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"}});
  return all;
}

}  // namespace fairlead::object

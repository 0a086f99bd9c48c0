// What the spec of a CustomResourceDefinition says about its kind.
#pragma once

#include <string_view>
#include <vector>

#include "base/json.h"
#include "object/resource.h"

namespace fairlead::object {

class Definition {
 public:
  // `definition` is the whole object, which must outlive this one. Fields that are missing or invalid count as empty.
  explicit Definition(const Json& definition) : spec_(definition["spec"]) {}

  std::string_view group() const { return spec_["group"].string_or(""); }
  std::string_view kind() const { return spec_["names"]["kind"].string_or(""); }
  std::string_view plural() const { return spec_["names"]["plural"].string_or(""); }
  bool namespaced() const { return spec_["scope"].string_or("") == "Namespaced"; }
  bool defines(std::string_view group, std::string_view kind) const;

  // Returns the entry of spec.versions with this name, or JSON null if there is none.
  const Json& version(std::string_view name) const;
  // Returns the openAPIV3Schema of a version, or JSON null if there is none.
  const Json& schema_of(std::string_view version) const;
  // Returns the names of all versions, and of those that are served.
  std::vector<std::string_view> versions() const;
  std::vector<std::string_view> served_versions() const;
  // Fields that no schema names are kept in every version.
  bool preserves_unknown_fields() const { return spec_["preserveUnknownFields"].bool_or(false); }

  // Returns how the webhook that converts between versions is called (service or url, caBundle), or JSON null if
  // there is no such webhook. A CRD with a single version never converts.
  const Json& conversion_client() const;

  // Returns what the cluster will serve, one resource per served version.
  std::vector<Resource> resources() const;

 private:
  const Json& spec_;
};

}  // namespace fairlead::object

#include "object/resource.h"

#include <algorithm>

#include "object/name.h"

namespace fairlead::object {

bool Resource::can(std::string_view verb) const { return std::ranges::find(verbs, verb) != verbs.end(); }

std::string Resource::api_path() const {
  if (group.empty()) return "/api/" + percent_encode(version);
  return fmt::format("/apis/{}/{}", percent_encode(group), percent_encode(version));
}

Result<std::string> Resource::list_path(std::string_view ns) const {
  // These come from a server, and would go into a path.
  if (!group.empty()) TRY(check_path_segment("group", group));
  TRY(check_path_segment("version", version));
  TRY(check_path_segment("resource", plural));
  std::string path = api_path();
  if (namespaced && !ns.empty()) {
    TRY(check_path_segment("namespace", ns));
    path += "/namespaces/" + percent_encode(ns);
  }
  return path + "/" + percent_encode(plural);
}

Result<std::string> Resource::path(std::string_view ns, std::string_view name, std::string_view subresource) const {
  if (namespaced && ns.empty()) return fail(ErrorKind::invalid, "{} \"{}\" needs a namespace", kind, name);
  TRY(check_path_segment("name", name));
  TRY_ASSIGN(std::string path, list_path(ns));
  path += "/" + percent_encode(name);
  if (subresource.empty()) return path;
  TRY(check_path_segment("subresource", subresource));
  return path + "/" + percent_encode(subresource);
}

}  // namespace fairlead::object

// What names an object: group, kind, namespace and name. The version is not part of it: every version of a group shows
// the same objects.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::object {

// "apps/v1" is the group apps in version v1, "v1" the core group, which is written "".
struct ApiVersion {
  std::string group;
  std::string version;

  static Result<ApiVersion> parse(std::string_view text);
  std::string text() const { return group.empty() ? version : group + "/" + version; }
  bool operator==(const ApiVersion&) const = default;
};

struct Key {
  std::string group;
  std::string kind;
  std::string ns;  // empty for what has no namespace
  std::string name;

  // "Deployment team-a/web", "ClusterRole admin"
  std::string text() const;
  // The same with the group, where a kind alone could be that of several: "Deployment.apps team-a/web"
  std::string text_with_group() const;

  auto operator<=>(const Key&) const = default;
};

}  // namespace fairlead::object

template <>
struct std::hash<fairlead::object::Key> {
  size_t operator()(const fairlead::object::Key& key) const noexcept;
};

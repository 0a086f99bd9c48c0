// What a cluster serves under a kind, and the URL paths of it. Discovery fills these in; nothing is built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fairlead::object {

struct Resource {
  std::string group;  // empty for the core group
  std::string version;
  std::string kind;
  std::string plural;
  std::string singular;
  bool namespaced = false;
  std::vector<std::string> short_names;
  std::vector<std::string> verbs;
  std::vector<std::string> categories;

  bool can(std::string_view verb) const;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
  // "deployments.apps", "pods": how kubectl takes it.
  std::string name_with_group() const { return group.empty() ? plural : plural + "." + group; }

  // "/apis/apps/v1", "/api/v1"
  std::string api_path() const;
  // "/apis/apps/v1/namespaces/x/deployments". Without a namespace it is all of them, in every namespace. One that is
  // given for a resource without namespaces is left out.
  Result<std::string> list_path(std::string_view ns = {}) const;
  // "/apis/apps/v1/namespaces/x/deployments/y/status". A namespaced resource needs a namespace here.
  Result<std::string> path(std::string_view ns, std::string_view name, std::string_view subresource = {}) const;

  bool operator==(const Resource&) const = default;
};

}  // namespace fairlead::object

// The path of a request, taken apart as the API server does it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/core/store.h"

namespace fairlead::sandbox {

// The parameters behind the question mark, decoded.
class Query {
 public:
  static Query parse(std::string_view text);
  void set(std::string name, std::string value);

  // The first of that name; empty if there is none.
  std::string_view get(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  bool has(std::string_view name) const;
  // "true", "1", and the parameter without a value.
  bool flag(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

struct Route {
  std::string path;  // decoded, without the query
  Query query;
  bool is_resource = false;
  // A namespaced or cluster-wide resource; the rest is empty for other paths.
  std::string group;
  std::string version;
  std::string ns;
  std::string resource;
  std::string name;
  std::string subresource;
  // The steps of the path: "apis", "apps", "v1", ...
  std::vector<std::string> steps;

  ResourceId id() const { return {group, resource}; }
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

Route parse_route(std::string_view target);

std::string percent_decode(std::string_view text, bool plus_is_space);

}  // namespace fairlead::sandbox

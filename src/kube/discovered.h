// What a server's discovery documents say it serves: pure, from Json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "object/resource.h"

namespace fairlead::kube {

// A group and version that could not be discovered, and why.
struct GroupProblem {
  std::string group;
  std::string version;
  std::string why;

  bool operator==(const GroupProblem&) const = default;
};

class Discovered {
 public:
  // An APIGroupDiscoveryList, of v2 or v2beta1.
  void add_aggregated(const Json& list);
  // An APIResourceList.
  void add_resource_list(std::string_view group, std::string_view version, const Json& list);
  void add_problem(GroupProblem problem) { problems_.push_back(std::move(problem)); }
  // Everything of the other one, behind what is here.
  void merge(Discovered other);

  // In the server's order: of a group, the version that it prefers comes first.
  const std::vector<object::Resource>& resources() const { return resources_; }
  const std::vector<GroupProblem>& problems() const { return problems_; }

  const object::Resource* find(std::string_view group, std::string_view version, std::string_view kind) const;
  // The preferred version of a kind.
  const object::Resource* find(std::string_view group, std::string_view kind) const;
  // As kubectl takes it: deployments, deployment, deploy, Deployment, each alone or with .apps or .v1.apps behind it.
  const object::Resource* find_by_name(std::string_view name) const;

  // Why a kind was not found, as far as it can be told.
  Error missing(std::string_view group, std::string_view version, std::string_view kind) const;

 private:
  void add(object::Resource resource);

  std::vector<object::Resource> resources_;
  std::vector<GroupProblem> problems_;
  // "group/version/kind"
  std::map<std::string, size_t, std::less<>> by_kind_;
};

}  // namespace fairlead::kube

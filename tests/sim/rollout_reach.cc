#include "rollout_reach.h"

#include <algorithm>

namespace fairlead::sim {

using Object = Json::Object;
using Array = Json::Array;

bool Reach::meets(const sandbox::ResourceId& resource, const std::string& ns, const Json& labels,
                  const std::vector<std::string>& guarded_namespaces) const {
  if (group != resource.group || (plural != "*" && plural != resource.resource)) return false;
  switch (only) {
    case Only::all: return true;
    case Only::outside_operators: return !ns.starts_with("op-");
    case Only::guarded_namespaces: return std::ranges::find(guarded_namespaces, ns) != guarded_namespaces.end();
    case Only::tier_a: return labels["tier"].string_or("") == "a";
  }
  return false;
}

void Reach::restrict(Object& hook) const {
  if (only == Only::outside_operators)
    hook["namespaceSelector"] =
        Object{{"matchExpressions", Array{Object{{"key", "kubernetes.io/metadata.name"},
                                                 {"operator", "NotIn"},
                                                 {"values", Array{"op-0", "op-1", "op-2", "op-3"}}}}}};
  if (only == Only::guarded_namespaces) hook["namespaceSelector"] = Object{{"matchLabels", Object{{"guarded", "yes"}}}};
  if (only == Only::tier_a) hook["objectSelector"] = Object{{"matchLabels", Object{{"tier", "a"}}}};
}

Reach draw_reach(Random& random, uint64_t number, const std::string& own) {
  static const std::vector<sandbox::ResourceId> kBuiltIn = {
      {"", "configmaps"}, {"", "configmaps"},      {"", "secrets"},         {"", "secrets"},  {"", "pods"},
      {"", "pods"},       {"", "serviceaccounts"}, {"apps", "deployments"}, {"batch", "jobs"}};
  Reach reach;
  uint64_t what = random.below(4);
  if (what <= 1 && !own.empty()) {
    reach = {"example.com", what == 0 ? own : "*"};
  } else {
    const sandbox::ResourceId& resource = kBuiltIn[random.below(kBuiltIn.size())];
    reach = {resource.group, resource.resource};
  }
  // Two that each guard what the other one stands on could never be installed.
  using Only = Reach::Only;
  Only choices[] = {Only::outside_operators, Only::guarded_namespaces, Only::tier_a, Only::all};
  bool may_be_all = (number == 0 && reach.plural != "pods") || reach.group == "example.com";
  reach.only = choices[random.below(may_be_all ? 4 : 3)];
  return reach;
}

}  // namespace fairlead::sim

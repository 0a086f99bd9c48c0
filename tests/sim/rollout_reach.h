// What a webhook of a random bundle guards: a resource, all of it or what selectors leave.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "sandbox/core/store.h"
#include "sim/dice.h"

namespace fairlead::sim {

struct Reach {
  std::string group;
  std::string plural;  // "*" for all of the group
  enum class Only { all, outside_operators, guarded_namespaces, tier_a } only = Only::all;

  // Whether an object with these labels meets it.
  bool meets(const sandbox::ResourceId& resource, const std::string& ns, const Json& labels,
             const std::vector<std::string>& guarded_namespaces) const;
  // The selectors of the hook.
  void restrict(Json::Object& hook) const;
};

// For the operator of that number, whose own custom resource is `own` (empty if it has none). What it reaches never
// keeps two operators from each other for good.
Reach draw_reach(Random& random, uint64_t number, const std::string& own);

}  // namespace fairlead::sim

// An example of a policy set, for people who write an operator: the rules of a harbour for its Berths.
//
// docs/policies.md goes through it. Nothing in Fairlead uses it; its tests run with those of Fairlead.
#pragma once

#include "webhook/policy/policy.h"

namespace harbour {

// Berths of the group demo.fairlead.dev, version v1:
// - a new berth without a draught gets one of 5 metres;
// - a berth has 10 to 400 metres;
// - a berth where a ship lies cannot get shorter, and cannot be deleted;
// - a berth of more than 300 metres gives a warning.
fairlead::webhook::PolicySet berth_policies();

}  // namespace harbour

// Decides whether an object is changed although other field managers own fields of it. Pure.
#pragma once

#include "base/json.h"
#include "inventory/takeover.h"
#include "kube/faults/fault.h"

namespace fairlead::rollout {

// Who applies the object, and what the user allows.
struct Applier {
  inventory::Successor successor;
  bool force_conflicts = false;
  bool adopt = false;
};

enum class Ruling {
  take_over,       // apply by force
  move_here,       // apply by force: the object belongs to another bundle, and --adopt moves it
  refuse,          // other managers own the fields
  another_bundle,  // the object belongs to another bundle and stays there
};

// `conflict` is the API server's answer to the apply. `live` is the object as it is in the cluster; null if it cannot
// be read.
Ruling rule_on(const kube::Fault& conflict, const Json& live, const Applier& applier);

}  // namespace fairlead::rollout

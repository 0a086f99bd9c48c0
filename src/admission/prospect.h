// Which guards an object may meet that is still to be sent, from what is known beforehand.
//
// Not known are: whether the object will be created or updated, what the one in the cluster is like, what defaults and
// mutating webhooks add to it, who sends it and how. What an expression says about those counts as matching. A "never"
// rests on the labels and values of the object itself; a mutating webhook that changes just those is not foreseen.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/policy.h"
#include "admission/webhook.h"
#include "base/json.h"

namespace fairlead::admission {

enum class Certainty { never, maybe, certainly };
std::string_view name_of(Certainty certainty);

struct Prospect {
  GroupVersionResource resource;
  GroupVersionKind kind;
  // As in Attributes: for a Namespace its own name.
  std::string ns;
  Json object;
  // Of the namespace; nothing where they are not known. Not looked at for a Namespace, which has its own.
  std::optional<Json> ns_labels;
  std::vector<Equivalent> equivalents;
  bool may_create = true;
  bool may_update = true;
};

Certainty could_match(const Webhook& webhook, const Prospect& prospect);

// A policy guards only through a binding. Parameters that are missing do not change that it is a guard.
Certainty could_match(const Policy& policy, const Binding& binding, const Prospect& prospect);

}  // namespace fairlead::admission

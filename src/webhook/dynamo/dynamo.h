// The policy set "dynamo": the rules of the Dynamo operator's custom resources, in the group nvidia.com, v1alpha1.
//
// This is the room's first header. The rules and their messages are those of Dynamo 0.8; docs/dynamo.md lists them.
// Three things differ on purpose: errors and warnings of services come in the order of the services' names, the source
// of a model never appears in a message because it can contain credentials, and exactly two accounts may change the
// replicas of a service that has a scaling adapter.
//
// A create is checked by itself, an update also against the stored object. An update of an object that is being deleted
// is allowed, so that finalizers can be removed, and so is every deletion. The first rule that is broken is reported,
// except where one message names several fields: all that is missing from a PVC, and all replicas that were changed.
#pragma once

#include <string>

#include "webhook/policy/policy.h"

namespace fairlead::webhook {

struct DynamoOptions {
  // The Dynamo operator's own account, as the API server names it: "system:serviceaccount:NAMESPACE:NAME". Nobody is
  // taken for the operator while it is empty.
  std::string operator_account;
  // The name of the planner's service account. It counts only in the namespace of the object that is changed.
  std::string planner_account = "planner-serviceaccount";
};

PolicySet dynamo_policies(const DynamoOptions& options);

}  // namespace fairlead::webhook

// Which requests never wait, whatever works or does not.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "gate/rules/hook.h"
#include "gate/rules/kinds.h"
#include "webhook/policy/policy.h"

namespace fairlead::gate {

// Returns why the request is never held and never refused, or an empty text. A client that is refused waits inside its
// worker, so whatever runs the cluster itself must not be: its controllers, its nodes, leader election. `own_namespace`
// is where the gate runs.
std::string_view exemption(const webhook::Request& request, std::string_view own_namespace);

bool is_service_account(const admission::User& user);

// Returns true if the awaited webhook may need the object in order to come up. `backing` are the namespaces of the
// Services of all webhooks that are awaited: two operators may guard what the other one needs.
//
// A webhook may need: what is in its namespace, unless one of its rules names the (custom) group of the object, because
// an operator does not need the objects that it is there for; built-in objects without a namespace, such as CRDs and
// ClusterRoles; and whatever the service accounts of its namespace write.
bool may_back(const webhook::Request& request, const Hook& awaited, const std::set<std::string, std::less<>>& backing,
              const CustomKinds& kinds);

}  // namespace fairlead::gate

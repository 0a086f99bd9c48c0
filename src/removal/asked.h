// Whom the API server asks about a change of a target. Pure.
#pragma once

#include "admission/webhook.h"
#include "removal/order.h"

namespace fairlead::removal {

// What cannot be told (conditions on what is not read, labels of a namespace) counts as a yes.
bool is_asked(const admission::Webhook& webhook, const LiveTarget& target, admission::Operation operation);

}  // namespace fairlead::removal

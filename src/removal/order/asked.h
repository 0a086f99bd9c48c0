// Decides which webhooks the API server calls for a change of a target. Pure.
#pragma once

#include "admission/webhook.h"
#include "removal/order/order.h"

namespace fairlead::removal {

// True if the webhook is called. Also true if that is not known, because of conditions on fields that were not read or
// of the labels of a namespace.
bool is_asked(const admission::Webhook& webhook, const LiveTarget& target, admission::Operation operation);

}  // namespace fairlead::removal

// What an API server says when it could not get what it needs from a webhook: the one place where text is all there is.
//
// Understands servers old and new: `failed calling webhook`, `failed calling admission webhook`, with and without
// `failed to call webhook:`, the URL with and without quotes.
#pragma once

#include <optional>
#include <string_view>

#include "kube/faults/fault.h"

namespace fairlead::kube {

struct WebhookText {
  FaultKind kind;
  FaultWebhook webhook;
  // What is left when everything that is in `webhook` has been taken away: "connect: connection refused".
  std::string_view tail;
};

// From the message of a Status, of any code. Nothing if it does not speak of a webhook.
std::optional<WebhookText> read_webhook_text(std::string_view message);

}  // namespace fairlead::kube

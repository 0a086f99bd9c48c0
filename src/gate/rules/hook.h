// A webhook of somebody else, as the gate keeps it.
#pragma once

#include <string>
#include <vector>

#include "admission/own.h"
#include "admission/webhook.h"
#include "base/json.h"

namespace fairlead::gate {

using admission::kGateLabel;

struct Hook {
  admission::Webhook webhook;
  // As it is stored in its configuration.
  Json stored;
  // Of its configuration.
  std::string uid;
  std::string created;
  // The caBundle is empty, and an annotation asks an injector to write one.
  bool awaits_injection = false;

  // Identifies it: a webhook of a configuration that was created anew is another one.
  std::string id() const;
  // "webhook v.example.com (ValidatingWebhookConfiguration widgets)"
  std::string text() const;
  // True if a rule names the group, not only "*".
  bool names_group(std::string_view group) const;
  // "ValidatingWebhookConfiguration"
  std::string_view configuration_kind() const;
};

// The webhooks of a configuration. There are none in those of a gate, and in Fairlead's temporary ones.
std::vector<Hook> hooks_of(const Json& configuration);

}  // namespace fairlead::gate

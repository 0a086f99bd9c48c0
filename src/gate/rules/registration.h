// The webhook configurations that the gate itself must have.
//
// An API server may keep using the former version of a configuration that was updated, so the gate never updates one:
// what a configuration says is in its name, and a change is a configuration with another name.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "gate/rules/hook.h"

namespace fairlead::gate {

// All names of the gate's own configurations begin with it. The 0 makes API servers call them before almost all others.
inline constexpr std::string_view kConfigurationPrefix = "0-fairlead-gate-";
// A namespace with this label and the value "off" is not gated.
inline constexpr std::string_view kSwitchLabel = "fairlead.dev/gate";
inline constexpr std::string_view kPath = "/gate";

struct Registrar {
  // The value of the gate's label.
  std::string name = "fairlead-gate";
  // Where the gate runs; API servers do not ask it about objects there.
  std::string ns;
  // How API servers reach the gate: one of the two.
  std::optional<admission::ServiceReference> service = {};
  std::string url = {};
  // Base64.
  std::string ca_bundle = {};
  // The time-outs of the configurations that are always there, and of the one for webhooks that are coming up.
  int seconds = 2;
  int hold_seconds = 8;
};

// Returns the configurations that there must be now, in no order: one per group of CRDs; one per group of Kubernetes
// with those kinds that some webhook behind a Service guards; and one for requests that webhooks are called for which
// do not work yet.
std::vector<Json> configurations(const Registrar& registrar, const std::set<std::string>& custom_groups,
                                 const std::vector<const Hook*>& hooks, const std::vector<const Hook*>& awaited);

// What a configuration is for: its name without the part that its contents make. Two with the same one have the same
// purpose in other words, such as those of two versions of the gate.
std::string_view purpose_of(std::string_view name);

// True for a configuration that a gate of that name has made.
bool is_own(const Json& configuration, std::string_view name);

}  // namespace fairlead::gate

#include "rollout/gates.h"

#include <fmt/format.h>

namespace fairlead::rollout {

Gate& Gates::at(const std::string& what) {
  std::unique_ptr<Gate>& gate = gates_[what];
  if (!gate) gate = std::make_unique<Gate>(loop_);
  return *gate;
}

Gate* Gates::find(const std::string& what) {
  auto found = gates_.find(what);
  return found == gates_.end() ? nullptr : found->second.get();
}

std::string gate_of_webhook(std::string_view name) { return fmt::format("webhook {}", name); }

std::string gate_for(const kube::Fault& fault) {
  if (fault.webhook) return gate_of_webhook(fault.webhook->name);
  return fmt::format("{} {}/{}", kube::name_of(fault.wait.what), fault.wait.ns, fault.wait.name);
}

}  // namespace fairlead::rollout

#include "rollout/guards/retry_gates.h"

#include <fmt/format.h>

namespace fairlead::rollout {

RetryGate& RetryGates::at(const std::string& what) {
  std::unique_ptr<RetryGate>& gate = gates_[what];
  if (!gate) gate = std::make_unique<RetryGate>(loop_);
  return *gate;
}

std::string gate_of_webhook(std::string_view name) { return fmt::format("webhook {}", name); }

std::string gate_of_service(std::string_view ns, std::string_view name) {
  return fmt::format("service {}/{}", ns, name);
}

bool is_out_of_reach(kube::FaultKind kind) {
  switch (kind) {
    case kube::FaultKind::webhook_service_missing:
    case kube::FaultKind::webhook_port_missing:
    case kube::FaultKind::webhook_no_endpoints:
    case kube::FaultKind::webhook_refused:
    case kube::FaultKind::webhook_timeout:
    case kube::FaultKind::webhook_hung_up: return true;
    default: return false;
  }
}

bool is_about_service(const kube::Fault& fault) {
  return fault.webhook && !fault.webhook->service.empty() && is_out_of_reach(fault.kind);
}

std::string gate_for(const kube::Fault& fault) {
  if (is_about_service(fault)) return gate_of_service(fault.webhook->ns, fault.webhook->service);
  if (fault.webhook) return gate_of_webhook(fault.webhook->name);
  return fmt::format("{} {}/{}", kube::name_of(fault.wait.what), fault.wait.ns, fault.wait.name);
}

}  // namespace fairlead::rollout

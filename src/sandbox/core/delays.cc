#include <algorithm>
#include <array>

#include "sandbox/core/options.h"

namespace fairlead::sandbox {
namespace {

struct NamedDelay {
  std::string_view name;
  Duration Delays::* delay;
};

constexpr std::array kDelays = std::to_array<NamedDelay>({
    {"crd-names-accepted", &Delays::crd_names_accepted},
    {"crd-established", &Delays::crd_established},
    {"mutating-webhooks", &Delays::mutating_webhooks},
    {"validating-webhooks", &Delays::validating_webhooks},
    {"policies", &Delays::policies},
    {"controller", &Delays::controller},
    {"pod-scheduled", &Delays::pod_scheduled},
    {"pod-started", &Delays::pod_started},
    {"pod-ready", &Delays::pod_ready},
    {"pod-listening", &Delays::pod_listening},
    {"pod-stopped", &Delays::pod_stopped},
    {"job-run", &Delays::job_run},
    {"load-balancer", &Delays::load_balancer},
    {"volume-bound", &Delays::volume_bound},
    {"namespace-retry", &Delays::namespace_retry},
    {"crd-deletion-retry", &Delays::crd_deletion_retry},
});

}  // namespace

std::vector<std::string_view> delay_names() {
  std::vector<std::string_view> names;
  for (const NamedDelay& delay : kDelays) names.push_back(delay.name);
  return names;
}

bool set_delay(Delays& delays, std::string_view name, Duration value) {
  auto found = std::ranges::find(kDelays, name, &NamedDelay::name);
  if (found == kDelays.end()) return false;
  delays.*(found->delay) = value;
  return true;
}

}  // namespace fairlead::sandbox

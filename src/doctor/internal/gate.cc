#include <map>

#include "admission/client_config.h"
#include "admission/own.h"
#include "doctor/checks.h"
#include "doctor/internal/backends.h"
#include "doctor/internal/texts.h"

namespace fairlead::doctor {
namespace {

// The gates of the cluster by name, each with one of its configurations.
std::map<std::string, const Json*> gates_of(const Snapshot& snapshot) {
  std::map<std::string, const Json*> gates;
  for (const Json& configuration : snapshot.all("MutatingWebhookConfiguration"))
    if (std::string_view name = configuration["metadata"]["labels"][admission::kGateLabel].string_or(""); !name.empty())
      gates.emplace(name, &configuration);
  return gates;
}

}  // namespace

void check_gate(const Snapshot& snapshot, Findings& findings) {
  for (const auto& [name, configuration] : gates_of(snapshot)) {
    std::optional<admission::ServiceReference> service =
        admission::read_service((*configuration)["webhooks"].item(0)["clientConfig"]["service"]);
    if (!service) continue;
    std::optional<Outage> outage = outage_of(snapshot, *service);
    if (!outage) continue;
    bool is_gone = outage->kind != Outage::Kind::no_endpoints;
    findings.push_back(
        {.code = is_gone ? "gate-left-behind" : "gate-not-answering",
         .severity = Severity::warning,
         .object = key_of(*configuration),
         .what = is_gone ? fmt::format("gate {} is gone, and its webhook configurations are still there", name)
                         : fmt::format("gate {} does not answer, so no request waits for webhooks that come up", name),
         .causes = std::move(outage->causes),
         .next = is_gone
                     ? fmt::format("kubectl delete mutatingwebhookconfigurations -l {}={}", admission::kGateLabel, name)
                     : outage->next,
         .related = std::move(outage->related)});
  }
}

}  // namespace fairlead::doctor

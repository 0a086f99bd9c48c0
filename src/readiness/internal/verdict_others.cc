// Rules for kinds that run no pods but are not ready as soon as they are stored.
#include <fmt/format.h>

#include <optional>

#include "admission/client_config.h"
#include "base/base64.h"
#include "readiness/internal/verdict_rules.h"
#include "readiness/shadow_objects.h"

namespace fairlead::readiness {
namespace {

// Returns the first address of status.loadBalancer, or an empty text.
std::string_view address_of(const Json& object) {
  for (const Json& ingress : object["status"]["loadBalancer"]["ingress"].items())
    for (std::string_view member : {"ip", "hostname"})
      if (std::string_view address = ingress[member].string_or(""); !address.empty()) return address;
  return {};
}

Verdict by_address(const Json& object, std::string_view who) {
  std::string_view address = address_of(object);
  if (address.empty()) return in_progress(fmt::format("{} has not assigned an address yet", who));
  return ready(fmt::format("its address is {}", address));
}

// autoscaling/v1 has no conditions in its status. The API server writes them into an annotation there.
Json with_conditions_of_v1(const Json& object) {
  Json seen{Json::Object()};
  const Json& text = object["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/conditions"];
  Result<Json> written = Json::parse(text.string_or(""), {.bytes = size_t{64} << 10, .depth = 8});
  seen.make("status").make("conditions") = written ? *std::move(written) : object["status"]["conditions"];
  return seen;
}

}  // namespace

Verdict judge_claim(const Json& object, const Options& options) {
  std::string_view phase = object["status"]["phase"].string_or("");
  if (phase == "Bound")
    return ready(fmt::format("it is bound to {}", object["spec"]["volumeName"].string_or("a volume")));
  if (phase == "Lost") return failed_for_good("the volume that it was bound to is lost");
  // The scheduler writes the node once a pod uses the claim. From then on the claim should be bound.
  bool has_consumer = !object["metadata"]["annotations"]["volume.kubernetes.io/selected-node"].string_or("").empty();
  if (options.binds_on_first_use && !has_consumer) return ready("it is bound when the first pod uses it");
  return in_progress(phase.empty() ? "it is not bound to a volume yet" : fmt::format("it is {}, not bound yet", phase));
}

Verdict judge_volume(const Json& object, const Options&) {
  const Json& status = object["status"];
  std::string_view phase = status["phase"].string_or("");
  if (phase == "Available" || phase == "Bound") return ready(fmt::format("it is {}", phase));
  if (phase == "Failed") return failed("the volume failed: " + reason_text(status, "no reason is given"));
  if (phase == "Released")
    return failed("its claim was deleted, and it accepts no other claim while spec.claimRef is set");
  return in_progress(phase.empty() ? "it has no phase yet" : fmt::format("it is {}", phase));
}

Verdict judge_service(const Json& object, const Options&) {
  if (object["spec"]["type"].string_or("") == "LoadBalancer") return by_address(object, "the load balancer");
  return ready("it is stored, and there is nothing else to wait for");
}

Verdict judge_ingress(const Json& object, const Options&) { return by_address(object, "the ingress controller"); }

Verdict judge_namespace(const Json& object, const Options&) {
  std::string_view phase = object["status"]["phase"].string_or("");
  if (phase == "Active") return ready("it is Active");
  if (phase == "Terminating") return {.state = State::terminating, .reason = "it is being deleted"};
  return in_progress("it is not Active yet");
}

Verdict judge_definition(const Json& object, const Options&) {
  const Json& accepted = condition(object, "NamesAccepted");
  if (has_status(accepted, "False")) return failed_for_good(condition_text(accepted));
  const Json& established = condition(object, "Established");
  if (has_status(established, "True")) return ready("it is established");
  return in_progress(established.is_null() ? "it is not established yet" : condition_text(established));
}

Verdict judge_api_service(const Json& object, const Options&) {
  const Json& available = condition(object, "Available");
  if (has_status(available, "True")) return ready(condition_text(available));
  return in_progress(available.is_null() ? "the API server has not checked it yet" : condition_text(available));
}

// Metrics appear about a minute after the pods, or never if nothing measures them, so they are not waited for. The
// rollout only has to make sure that the autoscaler finds its target.
Verdict judge_autoscaler(const Json& object, const Options&) {
  const Json seen = with_conditions_of_v1(object);
  const Json& able = condition(seen, "AbleToScale");
  if (able.is_null()) return in_progress("its controller has not seen it yet");
  if (!has_status(able, "True")) return in_progress(condition_text(able));
  const Json& active = condition(seen, "ScalingActive");
  return ready(has_status(active, "False") ? "it can scale, but " + condition_text(active) : condition_text(able));
}

// Whether the webhook answers is left to a proof. Without a CA, the API server cannot trust a Service: cert-manager or
// the operator itself still has to write the caBundle.
Verdict judge_webhooks(const Json& object, const Options&) {
  for (const Json& webhook : object["webhooks"].items()) {
    const Json& config = webhook["clientConfig"];
    // This is the marker of a run. It has no caBundle, and the run removes it.
    if (guest_ownership(webhook["name"].string_or(""))) continue;
    if (config["service"].is_object() && !admission::has_certificate(config["caBundle"].string_or("")))
      return in_progress(
          fmt::format("the caBundle of webhook {} is not filled in yet", webhook["name"].string_or("?")));
  }
  return ready("it is stored; its webhooks are proved separately");
}

}  // namespace fairlead::readiness

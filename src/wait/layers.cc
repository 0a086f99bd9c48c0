#include "wait/layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/client_config.h"
#include "base/timestamp.h"
#include "readiness/shadow_objects.h"

namespace fairlead::wait {
namespace {

using readiness::Proof;
using readiness::Rung;
using State = Layer::State;

// An API server can use the former version of a configuration for this long.
constexpr Duration kFresh = std::chrono::minutes(2);

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

bool is_fresh_change(const Json& object, WallTime now) {
  const Json& metadata = object["metadata"];
  if (metadata["generation"].int_or(1) <= 1) return false;
  return std::ranges::any_of(metadata["managedFields"].items(), [&](const Json& entry) {
    std::optional<WallTime> at = parse_timestamp(entry["time"].string_or(""));
    return at && now - *at < kFresh;
  });
}

std::string version_of(const Json& object) {
  std::string version(object["metadata"]["uid"].string_or(""));
  for (const Json& hook : object["webhooks"].items())
    if (!readiness::guest_ownership(hook["name"].string_or(""))) hook.append_to(version);
  object["spec"]["conversion"].append_to(version);
  return version;
}

std::string service_text(const admission::ServiceReference& service) {
  return fmt::format("service {}/{}", service.ns, service.name);
}

std::string why_text(const Proof& proof) {
  if (proof.fault) return proof.fault->explanation;
  return proof.why_not.empty() ? proof.evidence : proof.why_not;
}

std::string next_of(const Proof& proof) { return proof.fault ? proof.fault->advice : ""; }

// The rung that the last call reached; nothing if there was none, or if it proved nothing.
std::optional<Rung> reached(const Findings& findings) {
  if (!findings.call || !findings.call->proved) return std::nullopt;
  return findings.call->rung;
}

Layer configuration_layer(const Callee& callee, const Findings& findings) {
  Layer layer{.name = "configuration", .text = "registered, not yet proved to be in effect"};
  if (!callee.kind) return {.name = "configuration", .state = State::ok, .text = "registered"};
  if (!findings.effect) return layer;
  if (findings.effect->reached(Rung::in_effect))
    return {.name = "configuration", .state = State::ok, .text = "registered and in effect"};
  layer.text = why_text(*findings.effect);
  layer.next = next_of(*findings.effect);
  return layer;
}

Layer bundle_layer(const Callee& callee) {
  if (callee.ca_bundle.empty() && !callee.service)
    return {.name = "caBundle", .state = State::unused, .text = "none: the API server's own authorities count"};
  if (admission::has_certificate(callee.ca_bundle))
    return {.name = "caBundle", .state = State::ok, .text = "filled in"};
  return {.name = "caBundle",
          .state = State::failing,
          .text = "the caBundle is still to be filled in",
          .next = fmt::format("kubectl get {} {} -o yaml", callee.configuration.kind, callee.configuration.name)};
}

bool has_port(const Json& service, int port) {
  return std::ranges::any_of(service["spec"]["ports"].items(),
                             [&](const Json& one) { return one["port"].int_or(0) == port; });
}

Layer service_layer(const Callee& callee, const Findings& findings) {
  if (!callee.service) return {.name = "service", .state = State::unused, .text = "it is called by its URL"};
  std::string text = service_text(*callee.service);
  std::string next = fmt::format("kubectl -n {} get service {}", callee.service->ns, callee.service->name);
  if (!findings.service) return {.name = "service", .text = text + " cannot be read"};
  if (findings.service->is_null())
    return {.name = "service", .state = State::failing, .text = text + " does not exist", .next = std::move(next)};
  if (!has_port(*findings.service, callee.service->port))
    return {.name = "service",
            .state = State::failing,
            .text = fmt::format("{} has no port {}", text, callee.service->port),
            .next = std::move(next)};
  return {.name = "service", .state = State::ok, .text = fmt::format("{}, port {}", text, callee.service->port)};
}

Layer endpoints_layer(const Callee& callee, const Findings& findings) {
  if (!callee.service) return {.name = "endpoints", .state = State::unused, .text = "it is called by its URL"};
  std::optional<Rung> rung = reached(findings);
  if (rung && *rung < Rung::reachable)
    return {.name = "endpoints",
            .state = State::failing,
            .text = why_text(*findings.call),
            .next = next_of(*findings.call)};
  if (findings.each && findings.each->proved && !findings.each->reached(Rung::reachable))
    return {.name = "endpoints",
            .state = State::failing,
            .text = why_text(*findings.each),
            .next = next_of(*findings.each)};
  if (!findings.endpoints)
    return {
        .name = "endpoints", .state = rung ? State::ok : State::unknown, .text = rung ? "reached" : "cannot be read"};
  std::string count = fmt::format("{} of {} ready", findings.endpoints->ready, findings.endpoints->all);
  if (findings.endpoints->ready > 0) return {.name = "endpoints", .state = State::ok, .text = std::move(count)};
  std::string text = findings.why.causes.empty() ? service_text(*callee.service) + " has no ready endpoint"
                                                 : findings.why.causes.front();
  return {.name = "endpoints", .state = State::failing, .text = std::move(text), .next = findings.why.next};
}

Layer pods_layer(const Callee& callee, const Findings& findings) {
  if (!callee.service) return {.name = "pods", .state = State::unused, .text = "it is called by its URL"};
  if (!findings.endpoints) return {.name = "pods", .text = "cannot be read"};
  if (findings.endpoints->ready > 0)
    return {.name = "pods", .state = State::ok, .text = fmt::format("{} ready", findings.endpoints->ready)};
  if (findings.why.causes.size() < 2) return {.name = "pods", .text = "not known"};
  std::vector<std::string> causes(findings.why.causes.begin() + 1, findings.why.causes.end());
  return {.name = "pods",
          .state = State::failing,
          .text = fmt::format("{}", fmt::join(causes, ": ")),
          .next = findings.why.next};
}

Layer tls_layer(const Findings& findings) {
  std::optional<Rung> rung = reached(findings);
  if (!rung || *rung < Rung::reachable) return {.name = "TLS", .text = "not tried yet"};
  if (*rung >= Rung::trusted) return {.name = "TLS", .state = State::ok, .text = "its certificate is trusted"};
  return {.name = "TLS", .state = State::failing, .text = why_text(*findings.call), .next = next_of(*findings.call)};
}

Layer answer_layer(const Findings& findings) {
  if (!findings.call) return {.name = "answer", .text = "not asked yet"};
  std::optional<Rung> rung = reached(findings);
  if (!rung) return {.name = "answer", .text = why_text(*findings.call), .next = next_of(*findings.call)};
  if (*rung < Rung::trusted) return {.name = "answer", .text = "not reached"};
  if (*rung < Rung::answering)
    return {
        .name = "answer", .state = State::failing, .text = why_text(*findings.call), .next = next_of(*findings.call)};
  if (findings.each && !findings.each->proved)
    return {.name = "answer", .text = "not each endpoint is proved to answer: " + why_text(*findings.each)};
  bool is_each = findings.each && findings.endpoints && findings.endpoints->ready > 1;
  return {.name = "answer",
          .state = State::ok,
          .text = is_each ? fmt::format("it answers, and each of {} endpoints listens", findings.endpoints->ready)
                          : "it answers"};
}

Layer probe_layer(const Findings& findings) {
  if (findings.ignores_object)
    return {.name = "probe", .state = State::unused, .text = "its rules and selectors do not match the object"};
  if (!findings.review) return {.name = "probe", .text = "not sent yet"};
  const Proof& review = *findings.review;
  if (review.reached(Rung::answering)) return {.name = "probe", .state = State::ok, .text = review.evidence};
  return {.name = "probe", .state = State::failing, .text = why_text(review), .next = next_of(review)};
}

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::ok: return "ok";
    case State::failing: return "failing";
    case State::unknown: return "unknown";
    case State::unused: return "unused";
  }
  return "unknown";
}

std::string Callee::text() const {
  return kind ? fmt::format("webhook {} ({} {})", name, configuration.kind, configuration.name)
              : fmt::format("conversion webhook of {}", name);
}

std::vector<Callee> callees_of(const Json& object, WallTime now) {
  std::vector<Callee> callees;
  object::Key key{.group = std::string(kAdmission),
                  .kind = std::string(object["kind"].string_or("")),
                  .ns = "",
                  .name = std::string(object["metadata"]["name"].string_or(""))};
  if (std::optional<readiness::Target> conversion = readiness::conversion_target_of(object)) {
    key.group = "apiextensions.k8s.io";
    const Json& config = conversion->client_config;
    callees.push_back({.name = key.name,
                       .configuration = key,
                       .target = *conversion,
                       .service = admission::read_service(config["service"]),
                       .ca_bundle = std::string(config["caBundle"].string_or("")),
                       .version = version_of(object)});
    return callees;
  }
  for (const admission::Webhook& hook : admission::read_webhooks(object)) {
    if (readiness::guest_ownership(hook.name)) continue;
    bool is_mutating = hook.kind == admission::Webhook::Kind::mutating;
    callees.push_back(
        {.name = hook.name,
         .configuration = key,
         .target = readiness::target_of(hook),
         .service = hook.service,
         .ca_bundle = hook.ca_bundle,
         .hook = hook,
         .kind = is_mutating ? readiness::GuardKind::mutating_webhooks : readiness::GuardKind::validating_webhooks,
         .is_fresh_change = is_fresh_change(object, now),
         .version = version_of(object)});
  }
  return callees;
}

std::vector<Layer> layers_of(const Callee& callee, const Findings& findings) {
  std::vector<Layer> layers = {configuration_layer(callee, findings),
                               bundle_layer(callee),
                               service_layer(callee, findings),
                               endpoints_layer(callee, findings),
                               pods_layer(callee, findings),
                               tls_layer(findings),
                               answer_layer(findings)};
  if (findings.wants_review) layers.push_back(probe_layer(findings));
  return layers;
}

const Layer* first_open(const std::vector<Layer>& layers) {
  auto failing = std::ranges::find(layers, State::failing, &Layer::state);
  if (failing != layers.end()) return &*failing;
  // Whether a Service can be read does not matter to a webhook that answers.
  bool answers = std::ranges::any_of(
      layers, [](const Layer& layer) { return layer.name == "answer" && layer.state == State::ok; });
  const Layer* configuration = nullptr;
  for (const Layer& layer : layers) {
    // It is proved to be in effect once the webhook answers, and says nothing before.
    if (layer.name == "configuration") {
      if (layer.state == State::unknown) configuration = &layer;
      continue;
    }
    bool is_about_backend = layer.name == "service" || layer.name == "endpoints" || layer.name == "pods";
    if (layer.state == State::unknown && !(answers && is_about_backend)) return &layer;
  }
  return configuration;
}

bool must_fail(const std::vector<Layer>& layers) {
  return std::ranges::any_of(layers, [](const Layer& layer) {
    return layer.state == State::failing &&
           (layer.name == "caBundle" || layer.name == "service" || layer.name == "endpoints");
  });
}

Rung rung_of(const Findings& findings) {
  std::optional<Rung> rung = reached(findings);
  if (!rung) return Rung::registered;
  bool is_in_effect = findings.effect && findings.effect->reached(Rung::in_effect);
  return *rung == Rung::in_effect && !is_in_effect ? Rung::registered : *rung;
}

}  // namespace fairlead::wait

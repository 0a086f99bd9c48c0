#include "readiness/proof.h"

#include <utility>

namespace fairlead::readiness {
namespace {

using kube::FaultKind;

// Names the target, with the URL that was called if the server gives it.
std::string place_of(const kube::Fault& fault, const Target& target) {
  if (fault.webhook && !fault.webhook->url.empty()) return fmt::format("{} ({})", target.name, fault.webhook->url);
  return target.name;
}

bool names(const kube::Fault& fault, std::string_view hook) {
  return fault.webhook && fault.webhook->role == kube::FaultWebhook::Role::admission && fault.webhook->name == hook;
}

}  // namespace

std::string_view name_of(Rung rung) {
  switch (rung) {
    case Rung::nothing: return "nothing";
    case Rung::registered: return "registered";
    case Rung::in_effect: return "in effect";
    case Rung::reachable: return "reachable";
    case Rung::trusted: return "trusted";
    case Rung::answering: return "answering";
  }
  return "nothing";
}

std::string_view name_of(GuardKind kind) {
  switch (kind) {
    case GuardKind::validating_webhooks: return "validating webhooks";
    case GuardKind::mutating_webhooks: return "mutating webhooks";
    case GuardKind::validating_policies: return "validating policies";
    case GuardKind::mutating_policies: return "mutating policies";
  }
  return "";
}

Target target_of(const admission::Webhook& webhook) {
  Target target;
  target.name = fmt::format("webhook {} ({})", webhook.name, webhook.configuration);
  target.own_name = webhook.name;
  Json::Object config;
  if (webhook.service) {
    Json::Object service{{"namespace", webhook.service->ns}, {"name", webhook.service->name}};
    if (!webhook.service->path.empty()) service.append("path", webhook.service->path);
    service.append("port", webhook.service->port);
    config.append("service", std::move(service));
  } else {
    config.append("url", webhook.url);
  }
  if (!webhook.ca_bundle.empty()) config.append("caBundle", webhook.ca_bundle);
  target.client_config = std::move(config);
  if (!webhook.review_versions.empty()) target.review_versions = webhook.review_versions;
  target.timeout_seconds = webhook.timeout_seconds;
  return target;
}

std::optional<Target> conversion_target_of(const Json& definition) {
  const Json& conversion = definition["spec"]["conversion"];
  if (conversion["strategy"].string_or("") != "Webhook") return std::nullopt;
  const Json& config = conversion["webhook"]["clientConfig"];
  if (!config.is_object()) return std::nullopt;
  Target target;
  target.role = Target::Role::conversion;
  target.own_name = definition["metadata"]["name"].string_or("");
  target.name = fmt::format("conversion webhook of {}", target.own_name);
  target.client_config = config;
  // conversionReviewVersions are not used, because a mirror sends another kind of review. The API server waits 30 s for
  // a conversion.
  target.timeout_seconds = 30;
  return target;
}

Rung rung_of(const kube::Fault& fault, Target::Role role) {
  bool called = fault.webhook && !fault.webhook->url.empty();
  bool conversion = role == Target::Role::conversion;
  switch (fault.kind) {
    case FaultKind::webhook_denied:
    // With 400 or 500, the webhook answers that it cannot handle the probe.
    case FaultKind::webhook_answered_error: return Rung::answering;
    case FaultKind::webhook_bad_response:
      // A converter does not know the review that a mirror sends. That it says so is an answer.
      return conversion ? Rung::answering : Rung::trusted;
    case FaultKind::webhook_path_missing:
    case FaultKind::webhook_busy: return Rung::trusted;
    case FaultKind::webhook_untrusted:
    case FaultKind::webhook_wrong_certificate:
      // If no call was made, the caBundle itself cannot be parsed.
      return called ? Rung::reachable : Rung::in_effect;
    case FaultKind::webhook_not_https:
    case FaultKind::webhook_hung_up: return Rung::reachable;
    default: return Rung::in_effect;
  }
}

kube::Fault about_the_webhook(kube::Fault fault, const Target& target) {
  if (!fault.webhook || fault.webhook->name.empty() || target.own_name.empty()) return fault;
  const std::string copy = std::exchange(fault.webhook->name, target.own_name);
  for (std::string* text : {&fault.explanation, &fault.message, &fault.advice})
    for (size_t at = 0; (at = text->find(copy, at)) != std::string::npos; at += target.own_name.size())
      text->replace(at, copy.size(), target.own_name);
  return fault;
}

Proof judge_mirror(const Target& target, const ProbedHooks& hooks, const kube::Outcome<kube::Reply>& answer) {
  Proof proof;
  proof.rung = Rung::registered;
  if (answer) {
    proof.connection = answer->connection;
    proof.why_not = "the API server does not use the temporary webhook yet";
    return proof;
  }
  proof.connection = answer.error().connection();
  const kube::Fault* fault = answer.error().fault();
  if (!fault) {
    proof.why_not = answer.error().error().message();
    return proof;
  }
  if (names(*fault, hooks.marker)) {
    proof.rung = Rung::answering;
    proof.proved = true;
    proof.evidence = fmt::format("the API server called {}, which answered", target.name);
    return proof;
  }
  // The server does not say whose patch it could not apply. But the shadow is called first, and only its mirror can
  // patch.
  if (fault->kind == FaultKind::webhook_bad_response && !fault->webhook) {
    proof.rung = Rung::answering;
    proof.proved = true;
    proof.evidence = fmt::format(
        "the API server called {}, which answered with a patch that does not fit the test object", target.name);
    return proof;
  }
  if (names(*fault, hooks.mirror)) {
    proof.rung = rung_of(*fault, target.role);
    proof.proved = true;
    if (proof.rung == Rung::answering) {
      proof.evidence = fmt::format("the API server called {}, which answered", place_of(*fault, target));
      return proof;
    }
    proof.fault = about_the_webhook(*fault, target);
    proof.evidence = fmt::format("the API server called {}: {}", place_of(*fault, target), proof.fault->explanation);
    return proof;
  }
  proof.why_not =
      fmt::format("the test request failed before it reached the temporary webhook: {}", fault->explanation);
  proof.fault = *fault;
  return proof;
}

}  // namespace fairlead::readiness

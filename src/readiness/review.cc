#include "readiness/review.h"

#include <algorithm>

#include "base/backoff.h"
#include "base/plain_text.h"
#include "readiness/internal/shadow_stage.h"

namespace fairlead::readiness {
namespace {

using kube::Fault, kube::FaultKind, kube::Outcome, kube::Reply;

constexpr size_t kDenialBytes = 300;

// A mirror that matches the user's object instead of a probe of our own.
Json review_object(const Stamp& stamp, const Target& target, const object::Resource& resource) {
  Json configuration = mirror_object(stamp, target, std::clamp(target.timeout_seconds, 1, 30));
  for (Json& hook : *configuration.make("webhooks").if_array())
    hook.make("rules") = Json::Array{Json::Object{{"apiGroups", Json::Array{resource.group}},
                                                  {"apiVersions", Json::Array{resource.version}},
                                                  {"operations", Json::Array{"CREATE"}},
                                                  {"resources", Json::Array{resource.plural}}}};
  return configuration;
}

Task<Outcome<Proof>> ask(kube::Client& client, ShadowStage& stage, const Target& target, const Reviewed& reviewed) {
  Outcome<ShadowStage::Placed> placed =
      co_await stage.put(GuardKind::mutating_webhooks, [&](const Stamp& stamp, std::string_view) {
        return std::vector<Json>{review_object(stamp, target, reviewed.resource)};
      });
  if (!placed) co_return std::unexpected(std::move(placed).error());
  if (placed->refusal) co_return *std::move(placed->refusal);
  kube::WriteOptions options;
  options.field_manager = placed->stamp.manager();
  options.dry_run = true;
  TimePoint started = stage.loop().now();
  Backoff pauses(std::chrono::milliseconds(1), std::chrono::milliseconds(100));
  while (true) {
    Outcome<Reply> answer = co_await client.create(reviewed.resource, reviewed.ns, reviewed.object, options);
    if (!answer && !answer.error().fault()) co_return std::unexpected(std::move(answer).error());
    Proof proof = judge_review(target, {placed->stamp.mirror(), placed->stamp.marker()}, reviewed, answer);
    proof.hopeless = !answer && may_not_be_sent(*answer.error().fault());
    bool is_late = stage.loop().now() - started >= stage.options().marker_timeout;
    // Until the shadow is in effect, the webhook itself, or another one, may refuse the object.
    if (proof.proved || proof.hopeless || is_late) co_return proof;
    CO_TRY(co_await sleep_for(stage.loop(), pauses.next()));
  }
}

}  // namespace

std::string Reviewed::text() const {
  return fmt::format("{} {}{}", resource.kind, ns.empty() ? "" : ns + "/", object["metadata"]["name"].string_or(""));
}

Task<Outcome<Proof>> review(kube::Client& client, Prover::Options options, Target target, Reviewed reviewed) {
  ShadowStage stage(client, std::move(options));
  Outcome<Proof> proof = co_await ask(client, stage, target, reviewed);
  co_await stage.clear();
  co_return proof;
}

Proof judge_review(const Target& target, const ProbedHooks& hooks, const Reviewed& reviewed,
                   const Outcome<Reply>& answer) {
  Proof proof = judge_mirror(target, hooks, answer);
  if (!proof.proved || proof.rung < Rung::answering) return proof;
  const Fault& fault = *answer.error().fault();
  if (fault.webhook && fault.webhook->name == hooks.marker) {
    proof.evidence = fmt::format("{} allows {}", target.name, reviewed.text());
    return proof;
  }
  if (fault.kind == FaultKind::webhook_denied) {
    constexpr std::string_view kDenied = "denied the request: ";
    size_t at = fault.message.find(kDenied);
    std::string why =
        at == std::string::npos ? "" : ": " + plain_text(fault.message.substr(at + kDenied.size()), kDenialBytes);
    proof.evidence = fmt::format("{} denies {}{}", target.name, reviewed.text(), why);
    return proof;
  }
  // It answers, but with an error: it does not decide.
  proof.rung = Rung::trusted;
  proof.fault = about_the_webhook(fault, target);
  proof.evidence = fmt::format("{} does not decide on {}: {}", target.name, reviewed.text(), proof.fault->explanation);
  return proof;
}

}  // namespace fairlead::readiness

#include "readiness/internal/shadow_marker.h"

#include "base/backoff.h"
#include "base/duration_text.h"

namespace fairlead::readiness {
namespace {

using kube::Fault, kube::FaultKind, kube::Outcome, kube::Reply;

// The pauses between probes. An API server learns about webhooks within milliseconds, about policies once a second.
Backoff probe_pauses(GuardKind kind) {
  using std::chrono::milliseconds;
  return {is_webhooks(kind) ? milliseconds(1) : milliseconds(20), milliseconds(100)};
}

bool shows(GuardKind kind, const Stamp& stamp, const std::string& hook, const Outcome<Reply>& answer) {
  const Fault* fault = answer ? nullptr : answer.error().fault();
  switch (kind) {
    case GuardKind::validating_webhooks:
    case GuardKind::mutating_webhooks: return fault && fault->webhook && fault->webhook->name == hook;
    case GuardKind::validating_policies:
      return fault && fault->kind == FaultKind::policy_denied && fault->subject == stamp.name();
    case GuardKind::mutating_policies:
      return answer && answer->value["metadata"]["annotations"][kShadowLabel].string_or("") == stamp.name();
  }
  return false;
}

GuardKind kind_of_policy(const object::Key& key) {
  return key.kind.starts_with("Mutating") ? GuardKind::mutating_policies : GuardKind::validating_policies;
}

}  // namespace

Task<Outcome<Proof>> ShadowMarkers::seek(GuardKind kind, Stamp stamp, std::string hook, uint64_t connection) {
  Loop& loop = stage_.loop();
  TimePoint started = loop.now();
  Backoff pauses = probe_pauses(kind);
  while (true) {
    Outcome<Reply> answer = co_await stage_.probe(stamp, connection);
    uint64_t answered_over = answer ? answer->connection : answer.error().connection();
    const Fault* fault = answer ? nullptr : answer.error().fault();
    if (!answer && !fault) co_return std::unexpected(std::move(answer).error());
    if (shows(kind, stamp, hook, answer)) {
      Proof proof;
      proof.rung = Rung::in_effect;
      proof.connection = answered_over;
      proof.proved = true;
      proof.evidence = fmt::format("the API server uses {} that were registered later", name_of(kind));
      co_return proof;
    }
    if (fault && may_not_be_sent(*fault)) {
      ShadowStage::NextProbe next = stage_.next_probe(stamp);
      if (next == ShadowStage::NextProbe::same_shadow) continue;
      bool hopeless = next == ShadowStage::NextProbe::none;
      Proof proof =
          not_proved(fmt::format("the test request cannot be sent: {}", fault->explanation), hopeless, *fault);
      proof.connection = answered_over;
      co_return proof;
    }
    if (loop.now() - started >= stage_.options().marker_timeout) {
      std::string why = fmt::format("the API server did not use new {} within {}", name_of(kind),
                                    short_text(stage_.options().marker_timeout));
      if (fault) why += fmt::format("; the last test request failed: {}", fault->explanation);
      Proof proof = not_proved(std::move(why), false, fault ? std::optional(*fault) : std::nullopt);
      proof.connection = answered_over;
      co_return proof;
    }
    CO_TRY(co_await sleep_for(loop, pauses.next()));
  }
}

Task<Outcome<Proof>> ShadowMarkers::created(GuardKind kind, uint64_t connection) {
  for (int attempt = 1;; ++attempt) {
    Outcome<ShadowStage::Placed> placed = co_await stage_.put(
        kind, [kind](const Stamp& stamp, std::string_view version) { return marker_objects(kind, stamp, version); });
    if (!placed) co_return std::unexpected(std::move(placed).error());
    if (placed->refusal) co_return *std::move(placed->refusal);
    Outcome<Proof> proof =
        co_await seek(kind, placed->stamp, is_webhooks(kind) ? placed->stamp.marker() : "", connection);
    stage_.retire(kind, placed->stamp);
    if (proof && !proof->proved && stage_.is_outdated(placed->stamp)) {
      --attempt;
      continue;
    }
    if (!proof || proof->proved || proof->hopeless || attempt >= stage_.options().markers) co_return proof;
  }
}

Task<Outcome<Proof>> ShadowMarkers::seek_guest(GuardKind kind, ShadowStage::Guest guest, uint64_t connection) {
  for (int attempt = 1;; ++attempt) {
    Outcome<ShadowStage::Placed> placed = co_await stage_.put_hook(guest);
    if (!placed) co_return std::unexpected(std::move(placed).error());
    if (placed->refusal) co_return *std::move(placed->refusal);
    Outcome<Proof> proof = co_await seek(kind, placed->stamp, placed->stamp.guest(), connection);
    if (proof && !proof->proved && stage_.is_outdated(placed->stamp)) {
      --attempt;
      continue;
    }
    // If the marker was not seen, the server may have kept the old version. A hook with another name is a new change.
    if (!proof || proof->proved || proof->hopeless || attempt >= stage_.options().markers) co_return proof;
  }
}

Task<Outcome<Proof>> ShadowMarkers::updated(object::Key configuration, uint64_t connection) {
  std::optional<object::Resource> resource = configurations_of(configuration.kind);
  // An API server reads all policies again when one of them changes, so a separate marker proves the same.
  if (!resource) co_return co_await created(kind_of_policy(configuration), connection);
  GuardKind kind =
      resource->kind.starts_with("Mutating") ? GuardKind::mutating_webhooks : GuardKind::validating_webhooks;
  Outcome<Reply> stored = co_await stage_.get(*resource, configuration.name);
  if (!stored) {
    const Fault* fault = stored.error().fault();
    if (!fault) co_return std::unexpected(std::move(stored).error());
    bool is_there = fault->kind != FaultKind::not_found;
    Proof proof = not_proved(fault->explanation, is_there && may_not_be_sent(*fault), *fault);
    if (!is_there) proof.rung = Rung::nothing;
    co_return proof;
  }
  ShadowStage::Guest guest{*std::move(resource), configuration.name,
                           std::string(stored->value["metadata"]["uid"].string_or("")), stage_.next_guest_manager()};
  std::string manager = guest.manager;
  Outcome<Proof> proof = co_await seek_guest(kind, std::move(guest), connection);
  stage_.retire_guest(std::move(manager));
  co_return proof;
}

}  // namespace fairlead::readiness

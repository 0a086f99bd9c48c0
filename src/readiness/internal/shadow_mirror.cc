#include "readiness/internal/shadow_mirror.h"

#include "base/backoff.h"

namespace fairlead::readiness {
namespace {

using kube::Fault, kube::FaultKind, kube::Outcome, kube::Reply;

constexpr int kFirstSeconds = 1;
constexpr Backoff kProbePauses(std::chrono::milliseconds(1), std::chrono::milliseconds(100));

std::string address_text(const Endpoint& endpoint) {
  bool v6 = endpoint.address.find(':') != std::string::npos;
  return fmt::format(fmt::runtime(v6 ? "[{}]:{}" : "{}:{}"), endpoint.address, endpoint.port);
}

Target at_endpoint(const Target& target, const Endpoint& endpoint) {
  Target there = target;
  std::string address = address_text(endpoint);
  std::string path(target.client_config["service"]["path"].string_or(""));
  if (!path.starts_with('/')) path.insert(0, "/");
  there.name = fmt::format("{} at {}", target.name, address);
  Json::Object config{{"url", fmt::format("https://{}{}", address, path)}};
  if (const Json& bundle = target.client_config["caBundle"]; !bundle.is_null()) config.append("caBundle", bundle);
  there.client_config = std::move(config);
  return there;
}

bool timed_out(const Proof& proof) { return proof.fault && proof.fault->kind == FaultKind::webhook_timeout; }

Proof listening(const std::vector<Proof>& each, const Target& target) {
  Proof sum;
  sum.rung = Rung::reachable;
  sum.proved = true;
  sum.evidence = fmt::format("all {} endpoints answered for {}", each.size(), target.name);
  if (!each.empty()) sum.connection = each.front().connection;
  size_t silent = 0;
  const Proof* worst = nullptr;
  for (const Proof& one : each) {
    if (!one.proved) return one;
    if (one.rung >= Rung::reachable) continue;
    bool silence = timed_out(one);
    silent += silence ? 1 : 0;
    // An endpoint that certainly does not listen tells more than one that only timed out.
    if (!worst || (timed_out(*worst) && !silence)) worst = &one;
  }
  if (!worst) return sum;
  if (silent == each.size()) {
    Proof unknown =
        not_proved(fmt::format("the API server cannot reach any endpoint of {} by its own address", target.name), false,
                   worst->fault);
    unknown.connection = sum.connection;
    return unknown;
  }
  return *worst;
}

}  // namespace

std::string ShadowMirrors::key_of(const Target& target, int seconds) {
  std::string key = fmt::format("{} ", seconds);
  for (const std::string& version : target.review_versions) key += version + ",";
  target.client_config.append_to(key);
  return key;
}

Task<Result<ShadowMirrors::MirrorPtr>> ShadowMirrors::stand(const Target& target, int seconds) {
  std::string key = key_of(target, seconds);
  while (true) {
    auto found = mirrors_.find(key);
    if (found == mirrors_.end()) break;
    MirrorPtr mirror = found->second;
    if (mirror->being_placed) {
      CO_TRY(co_await changed_.wait());
      continue;
    }
    // The mirror is replaced when a tenth of its life is left, before others may remove it.
    bool is_fresh = mirror->stamp.expires - stage_.options().life / 10 > stage_.loop().clock().wall_now();
    if (is_fresh && !stage_.is_outdated(mirror->stamp)) co_return mirror;
    drop(key, mirror);
  }
  auto mirror = std::make_shared<Mirror>();
  mirrors_[key] = mirror;
  Outcome<ShadowStage::Placed> placed =
      co_await stage_.put(GuardKind::mutating_webhooks, [&target, seconds](const Stamp& stamp, std::string_view) {
        return std::vector<Json>{mirror_object(stamp, target, seconds)};
      });
  mirror->being_placed = false;
  if (!placed) mirror->failure = std::move(placed).error();
  else if (placed->refusal) mirror->refusal = std::move(placed->refusal);
  else mirror->stamp = placed->stamp;
  if (mirror->failure || mirror->refusal) mirrors_.erase(key);
  changed_.notify_all();
  co_return mirror;
}

void ShadowMirrors::drop(const std::string& key, const MirrorPtr& mirror) {
  auto found = mirrors_.find(key);
  if (found == mirrors_.end() || found->second != mirror) return;
  mirrors_.erase(found);
  stage_.retire(GuardKind::mutating_webhooks, mirror->stamp);
}

Task<Outcome<Proof>> ShadowMirrors::ask_within(Target target, int seconds, uint64_t connection) {
  Loop& loop = stage_.loop();
  std::string key = key_of(target, seconds);
  for (int attempt = 1;; ++attempt) {
    CO_TRY_ASSIGN(MirrorPtr mirror, co_await stand(target, seconds));
    if (mirror->failure) co_return std::unexpected(*mirror->failure);
    if (mirror->refusal) co_return *mirror->refusal;
    TimePoint started = loop.now();
    Backoff pauses = kProbePauses;
    while (true) {
      Outcome<Reply> answer = co_await stage_.probe(mirror->stamp, connection);
      const Fault* fault = answer ? nullptr : answer.error().fault();
      if (!answer && !fault) co_return std::unexpected(std::move(answer).error());
      if (fault && may_not_be_sent(*fault)) {
        ShadowStage::NextProbe next = stage_.next_probe(mirror->stamp);
        if (next == ShadowStage::NextProbe::same_shadow) continue;
        drop(key, mirror);
        if (next == ShadowStage::NextProbe::none)
          co_return not_proved(fmt::format("the test request cannot be sent: {}", fault->explanation), true, *fault);
        --attempt;
        break;
      }
      Proof proof = judge_mirror(target, {mirror->stamp.mirror(), mirror->stamp.marker()}, answer);
      if (proof.proved) mirror->seen_over.insert(proof.connection);
      if (proof.proved || proof.fault) co_return proof;
      bool removed = proof.connection != 0 && mirror->seen_over.contains(proof.connection);
      if (removed || loop.now() - started >= stage_.options().marker_timeout) {
        drop(key, mirror);
        if (attempt >= stage_.options().markers) co_return proof;
        break;
      }
      CO_TRY(co_await sleep_for(loop, pauses.next()));
    }
  }
}

Task<Outcome<Proof>> ShadowMirrors::ask(Target target, uint64_t connection) {
  int own = std::clamp(target.timeout_seconds, 1, 30);
  std::string quick = key_of(target, kFirstSeconds);
  int seconds = slow_.contains(quick) ? own : kFirstSeconds;
  Outcome<Proof> proof = co_await ask_within(target, seconds, connection);
  if (proof && timed_out(*proof) && own > seconds && slow_.insert(quick).second)
    if (auto mirror = mirrors_.find(quick); mirror != mirrors_.end() && !mirror->second->being_placed)
      drop(quick, MirrorPtr(mirror->second));
  co_return proof;
}

Task<void> ShadowMirrors::ask_endpoint(Target target, uint64_t connection, Outcome<Proof>& proof) {
  proof = co_await ask_within(target, kFirstSeconds, connection);
  // An endpoint that listens is not asked again.
  if (!proof || proof->rung < Rung::reachable) co_return;
  std::string key = key_of(target, kFirstSeconds);
  if (auto mirror = mirrors_.find(key); mirror != mirrors_.end() && !mirror->second->being_placed)
    drop(key, MirrorPtr(mirror->second));
}

Task<Outcome<Proof>> ShadowMirrors::ask_each(Target target, std::vector<Endpoint> endpoints, uint64_t connection) {
  // A URL has no endpoints besides itself.
  if (!target.client_config.contains("service")) co_return co_await ask(std::move(target), connection);
  if (endpoints.empty()) co_return not_proved(fmt::format("no endpoint of {} is ready", target.name), false);
  std::vector<Outcome<Proof>> answers(endpoints.size(), Proof());
  Scope scope(stage_.loop(), co_await current_cancel());
  for (size_t i = 0; i < endpoints.size(); ++i)
    scope.spawn(ask_endpoint(at_endpoint(target, endpoints[i]), connection, answers[i]));
  co_await scope.join();
  std::vector<Proof> each;
  for (Outcome<Proof>& answer : answers) {
    if (!answer) co_return std::unexpected(std::move(answer).error());
    each.push_back(*std::move(answer));
  }
  co_return listening(each, target);
}

}  // namespace fairlead::readiness

#include "certs/engine.h"

#include <set>

#include "async/scope.h"
#include "base/duration_text.h"

namespace fairlead::certs {
namespace {

// How often others may write first before we give up. Each attempt means that somebody else has made progress.
constexpr int kAttempts = 10;
constexpr Duration kPauseAfterLoss = std::chrono::milliseconds(50);

}  // namespace

Engine::Engine(kube::Client& client, Spec spec, Targets targets, Proofs& proofs, Options options)
    : client_(client),
      spec_(std::move(spec)),
      targets_(std::move(targets)),
      proofs_(proofs),
      options_(std::move(options)),
      store_(client, spec_) {}

void Engine::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

Task<Result<Ensured>> Engine::ensure() {
  Ensured ensured;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    CO_TRY_ASSIGN(Stored stored, co_await store_.read());
    Judgement judgement = judge(stored.material, spec_, now());
    std::optional<Change> healed = heal(stored.material, memory_, spec_, now());
    if (!healed && !is_immediate(judgement.step)) {
      memory_ = stored.material;
      ensured.material = std::move(stored.material);
      ensured.judgement = std::move(judgement);
      co_return ensured;
    }
    if (!healed && judgement.step == Step::replace) {
      Result<void> checked = check_replaceable(stored.serving, stored.material, spec_);
      if (!checked)
        co_return fail(std::move(checked).error().in(fmt::format("no certificate is made: {}", judgement.reason)));
    }
    bool was_lost = healed.has_value();
    Result<Change> change = healed ? *std::move(healed) : take_step(judgement.step, stored.material, spec_, now());
    CO_TRY(change);
    CO_TRY_ASSIGN(bool written, co_await store_.write(stored, *change, options_.dry_run));
    if (!written) {
      // Somebody else was first: what they stored is read next.
      CO_TRY(co_await sleep_for(client_.loop(), kPauseAfterLoss * (attempt + 1)));
      continue;
    }
    ensured.taken.push_back({judgement.step, was_lost ? "it was deleted" : judgement.reason, was_lost});
    say(was_lost
            ? fmt::format("Secret {}/{}: brought back as it was", spec_.ns, spec_.secret)
            : fmt::format("Secret {}/{}: {}: {}", spec_.ns, spec_.secret, text_of(judgement.step), judgement.reason));
    if (options_.dry_run) {
      ensured.material = std::move(change->after);
      ensured.judgement = judge(ensured.material, spec_, now());
      co_return ensured;
    }
  }
  co_return fail(ErrorKind::unavailable, "Secret {}/{} keeps changing: {} attempts to write it were too late", spec_.ns,
                 spec_.secret, kAttempts);
}

admission::ServiceReference Engine::service_of(const InjectReport& report) const {
  if (!report.places.empty()) return report.places.front().place.service;
  return {.ns = spec_.ns, .name = spec_.service, .path = {}};
}

Task<Result<InjectReport>> Engine::inject(Material material, InjectOptions options) {
  options.dry_run = options.dry_run || options_.dry_run;
  CO_TRY_ASSIGN(InjectReport report, co_await certs::inject(client_, spec_, targets_, material.bundle, options));
  for (const Injection& one : report.places)
    if (one.how == Injection::How::injected) say(fmt::format("{}: caBundle injected", one.place.text()));
  if (!report.has_stale || options.retire || options.dry_run) co_return report;
  CO_TRY_ASSIGN(Evidence served, co_await proofs_.served(material.bundle, service_of(report), Duration::zero()));
  if (served.verdict != Evidence::Verdict::proved) co_return report;
  options.retire = true;
  size_t writes = report.writes;
  CO_TRY_ASSIGN(report, co_await certs::inject(client_, spec_, targets_, material.bundle, options));
  say("an old CA that nobody uses was removed");
  report.writes += writes;
  co_return report;
}

Task<Result<void>> Engine::wait_instead(const Evidence& evidence, std::string what, Duration time, Rotated& rotated) {
  std::string line =
      fmt::format("waiting {} because it cannot be proved that {}: {}", short_text(time), what, evidence.how);
  say(line);
  rotated.evidence.push_back(std::move(line));
  co_return co_await sleep_for(client_.loop(), time);
}

Task<Result<void>> Engine::prepare_switch(const Material& material, Rotated& rotated) {
  CO_TRY_ASSIGN(rotated.injected, co_await inject(material));
  if (!rotated.injected.is_complete())
    co_return fail(Error(ErrorKind::invalid, "the certificate is not switched to the new CA yet")
                       .because(Error(ErrorKind::invalid, "not everything that calls the Service trusts the new CA")
                                    .because(rotated.injected.why_incomplete()))
                       .next("fairlead certs rotate continues once that is solved"));
  std::set<object::Key> objects;
  for (const Injection& one : rotated.injected.places) objects.insert(one.place.object);
  if (objects.empty()) co_return Result<void>();
  say("waiting for a proof that API servers trust the new CA");
  CO_TRY_ASSIGN(Evidence evidence, co_await proofs_.in_use({objects.begin(), objects.end()}));
  if (evidence.verdict != Evidence::Verdict::proved)
    co_return co_await wait_instead(evidence, "API servers trust the new CA", kInUseWait, rotated);
  rotated.evidence.push_back(fmt::format("both CAs are trusted: {}", evidence.how));
  co_return Result<void>();
}

Task<Result<void>> Engine::prepare_retirement(const Material& material, Rotated& rotated) {
  CO_TRY_ASSIGN(rotated.injected, co_await inject(material));
  admission::ServiceReference service = service_of(rotated.injected);
  say(fmt::format("waiting until every endpoint of Service {}/{} serves the new certificate, for at most {}",
                  service.ns, service.name, short_text(kServedPatience)));
  CO_TRY_ASSIGN(Evidence evidence, co_await proofs_.served({material.ca->certificate}, service, kServedPatience));
  switch (evidence.verdict) {
    case Evidence::Verdict::proved:
      rotated.evidence.push_back(fmt::format("the new certificate is served: {}", evidence.how));
      co_return Result<void>();
    case Evidence::Verdict::unknown:
      co_return co_await wait_instead(evidence, "every endpoint serves the new certificate", kServedWait, rotated);
    case Evidence::Verdict::refuted: break;
  }
  co_return fail(Error(ErrorKind::timeout, "the old CA is not removed yet")
                     .because(Error(ErrorKind::timeout, fmt::format("the old certificate is still served after {}",
                                                                    short_text(kServedPatience)))
                                  .because(evidence.how))
                     .next("fairlead certs rotate continues once that is solved"));
}

Task<Result<void>> Engine::take_rotation_step(Step step, std::string reason, Rotated& rotated) {
  if (step == Step::switch_leaf) CO_TRY(co_await prepare_switch(rotated.material, rotated));
  if (step == Step::retire) CO_TRY(co_await prepare_retirement(rotated.material, rotated));
  CO_TRY_ASSIGN(Stored stored, co_await store_.read());
  // Somebody else went on meanwhile: what they left is judged next.
  Step due = judge(stored.material, spec_, now()).step;
  bool is_due = step == Step::begin_rotation ? !stored.material.rotating : due == step;
  if (!is_due) co_return Result<void>();
  CO_TRY_ASSIGN(Change change, take_step(step, stored.material, spec_, now()));
  CO_TRY_ASSIGN(bool written, co_await store_.write(stored, change));
  if (!written) co_return Result<void>();
  say(fmt::format("Secret {}/{}: {}", spec_.ns, spec_.secret, text_of(step)));
  rotated.taken.push_back({step, std::move(reason)});
  if (step != Step::retire) co_return Result<void>();
  CO_TRY_ASSIGN(rotated.injected, co_await inject(change.after, {.retire = true}));
  co_return Result<void>();
}

Task<Result<Rotated>> Engine::rotate(Begin begin) {
  Rotated rotated;
  if (begin == Begin::never) {
    CO_TRY_ASSIGN(Stored stored, co_await store_.read());
    rotated.material = std::move(stored.material);
    if (!rotated.material.rotating) co_return rotated;
  }
  // Four steps, each of which others may be faster at.
  for (int attempt = 0; attempt < 4 * kAttempts; ++attempt) {
    CO_TRY_ASSIGN(Ensured ensured, co_await ensure());
    for (Taken& taken : ensured.taken) rotated.taken.push_back(std::move(taken));
    rotated.material = std::move(ensured.material);
    Judgement next = std::move(ensured.judgement);
    if (next.step == Step::keep && begin == Begin::now) next = {Step::begin_rotation, "a new CA was asked for", {}};
    if (next.step == Step::keep || (next.step == Step::begin_rotation && begin == Begin::never)) co_return rotated;
    if (options_.dry_run) {
      rotated.taken.push_back({next.step, next.reason});
      co_return rotated;
    }
    if (begin == Begin::now) begin = Begin::if_due;
    CO_TRY(co_await take_rotation_step(next.step, next.reason, rotated));
  }
  co_return fail(ErrorKind::unavailable, "the rotation does not come to an end: others keep changing Secret {}/{}",
                 spec_.ns, spec_.secret);
}

}  // namespace fairlead::certs

#include "certs/keeper.h"

#include <algorithm>

#include "async/scope.h"
#include "kube/watched.h"

namespace fairlead::certs {
namespace {

constexpr int kFreeWrites = 5;
constexpr Duration kForgotten = std::chrono::hours(1);
constexpr Duration kFirstPause = std::chrono::seconds(1);
constexpr Duration kPauseAfterChange = std::chrono::seconds(5);

Task<Result<void>> wait_for(Signal& signal) { co_return co_await signal.wait(); }

}  // namespace

bool Contest::may_write(const object::Key& key, TimePoint now) const {
  auto found = entries_.find(key);
  return found == entries_.end() || now >= found->second.not_before;
}

void Contest::wrote(const object::Key& key, TimePoint now) {
  Entry& entry = entries_[key];
  if (entry.writes > 0 && now - std::max(entry.last, entry.not_before) > kForgotten) entry = {};
  entry.last = now;
  if (++entry.writes >= kFreeWrites) entry.not_before = now + entry.pause.next();
}

Keeper::Keeper(kube::Client& client, Spec spec, Targets targets, Proofs& proofs, KeeperOptions options)
    : client_(client),
      targets_(std::move(targets)),
      options_(std::move(options)),
      engine_(client, std::move(spec), targets_, proofs, {.say = options_.say}),
      woken_(client.loop()) {}

void Keeper::say(const std::string& line) const {
  if (options_.say) options_.say(line);
}

void Keeper::wake() {
  is_woken_ = true;
  woken_.notify_all();
}

void Keeper::count(const std::vector<Taken>& taken) {
  for (const Taken& one : taken) ++status_.steps[one.healed ? "heal" : std::string(name_of(one.step))];
}

Task<Result<void>> Keeper::look() {
  ++status_.looks;
  CO_TRY_ASSIGN(Ensured ensured, co_await engine_.ensure());
  count(ensured.taken);
  status_.judgement = ensured.judgement;
  if (ensured.judgement.step != Step::keep) {
    CO_TRY_ASSIGN(Rotated rotated, co_await engine_.rotate(Begin::if_due));
    count(rotated.taken);
    ensured.material = std::move(rotated.material);
    status_.judgement = judge(ensured.material, engine_.spec(), client_.loop().clock().wall_now());
  }
  TimePoint now = client_.loop().now();
  InjectOptions options{.may_write = [&](const object::Key& key) { return contest_.may_write(key, now); }};
  CO_TRY_ASSIGN(InjectReport report, co_await engine_.inject(std::move(ensured.material), std::move(options)));
  std::optional<object::Key> last;
  for (const Injection& one : report.places) {
    if (one.how == Injection::How::injected && one.place.object != last) contest_.wrote(one.place.object, now);
    if (one.how == Injection::How::injected) last = one.place.object;
  }
  if (!report.absent.empty())
    co_return fail(ErrorKind::not_found, "the CA cannot be registered: {}", fmt::join(report.absent, "; "));
  if (!report.is_complete())
    co_return fail(ErrorKind::invalid, "not every caBundle has the CA: {}", report.why_incomplete());
  co_return Result<void>();
}

Task<void> Keeper::look_again_and_again() {
  Backoff pause(kFirstPause, options_.pause);
  while (true) {
    is_woken_ = false;
    bool is_leader = !options_.is_leader || options_.is_leader();
    Result<void> looked = is_leader ? co_await look() : Result<void>();
    if (!looked && looked.error().kind() == ErrorKind::cancelled) co_return;
    std::string trouble = looked ? "" : looked.error().message();
    if (!trouble.empty() && trouble != status_.trouble) say(trouble);
    status_.trouble = std::move(trouble);
    if (looked) pause.reset();
    Duration wait = looked ? options_.pause : pause.next();
    // What changed while it looked is looked at at once, or soon if it failed: the change may have been its own.
    if (is_woken_ && looked) continue;
    if (is_woken_) wait = std::min(wait, kPauseAfterChange);
    TimePoint next = client_.loop().now() + wait;
    Result<void> waited = co_await with_deadline(client_.loop(), next, "", wait_for(woken_));
    if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return;
  }
}

// Wakes us when somebody changes or deletes the object.
Task<void> Keeper::watch(object::Resource resource, std::string ns, std::string name) {
  kube::Watched watched(client_, std::move(resource), {.ns = ns, .field_selector = "metadata.name=" + name},
                        [this](const Json&, bool) { wake(); });
  // Where it may not be watched, looking once a minute has to do.
  co_await watched.run();
}

Task<void> Keeper::run() {
  Scope scope(client_.loop(), co_await current_cancel());
  const std::vector<object::Resource>& kinds = injectable_resources();
  scope.spawn(watch(secrets(), engine_.spec().ns, engine_.spec().secret));
  scope.spawn(watch(secrets(), engine_.spec().ns, engine_.spec().ca_secret()));
  for (const std::string& name : targets_.webhooks)
    for (size_t kind : {0, 1}) scope.spawn(watch(kinds[kind], "", name));
  for (const std::string& name : targets_.definitions) scope.spawn(watch(kinds[2], "", name));
  for (const std::string& name : targets_.api_services) scope.spawn(watch(kinds[3], "", name));
  scope.spawn(look_again_and_again());
  co_await scope.join();
}

}  // namespace fairlead::certs

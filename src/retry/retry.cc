#include "retry/retry.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>

#include "async/scope.h"
#include "base/duration_text.h"
#include "base/plain_text.h"
#include "retry/internal/releases.h"
#include "retry/internal/waiting.h"

namespace fairlead::retry {

using journal::EventKind;

namespace {

// The clock of whoever wrote a record may be a little behind ours.
constexpr Duration kClockSkew = std::chrono::seconds(5);

std::string shown_time(Duration duration) { return short_text(std::chrono::round<std::chrono::seconds>(duration)); }

std::string program_of(const std::vector<std::string>& command) {
  if (command.empty()) return "the command";
  std::string_view path = command.front();
  return plain_text(path.substr(path.rfind('/') + 1), 100);
}

std::string subjects_of(const std::vector<Missing>& missing) {
  std::string text = missing.front().subject();
  if (missing.size() > 1) text += fmt::format(" and {} more", missing.size() - 1);
  return text;
}

// What follows the subjects: a kind is served, everything else works.
std::string_view state_text(const std::vector<Missing>& missing, bool is_there) {
  using What = Missing::What;
  bool is_kind = std::ranges::all_of(
      missing, [](const Missing& one) { return one.what == What::kind || one.what == What::definition; });
  if (is_kind) return is_there ? "is served" : "is not served";
  return is_there ? "works" : "does not work";
}

// The name comes from the output of a command, and may be anything.
bool is_plain(std::string_view name) {
  return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; });
}

std::string doctor_for(const Missing& missing) {
  bool is_webhook = missing.what == Missing::What::webhook && is_plain(missing.name);
  return is_webhook ? "fairlead doctor webhook " + missing.name : "fairlead doctor";
}

class Engine {
 public:
  Engine(World world, Options options, journal::Journal& journal, CancelSource* stop)
      : world_(std::move(world)),
        options_(std::move(options)),
        journal_(journal),
        stop_(stop),
        program_(program_of(options_.command)),
        begun_(world_.loop.now()),
        deadline_(options_.timeout ? begun_ + *options_.timeout : TimePoint::max()) {}

  Task<Ending> execute() {
    journal_.add({.kind = EventKind::started,
                  .details = Json(Json::Object{{"command", "retry"}, {"time", journal_.time_text()}})});
    while (co_await run_once()) {
    }
    ending_.took = world_.loop.now() - begun_;
    if (cluster_)
      for (const auto& [verb, count] : cluster_->client->counts()) ending_.requests += count;
    journal_.add({.kind = EventKind::ended, .state = std::string(name_of(ending_.how)), .details = details()});
    co_return std::move(ending_);
  }

 private:
  bool is_stopped() const { return stop_ && stop_->cancelled(); }
  TimePoint now() const { return world_.loop.now(); }

  // The rest return true if the command is to be run again.
  Task<bool> run_once();
  Task<bool> consider(const Failure& failure, WallTime begun);
  Task<bool> wait_before_next(const Failure& failure);
  // Fails if there is no use in a retry.
  Task<Result<Waited>> wait_for_missing(const Failure& failure, TimePoint due);
  Error taken_back(const Failure& failure) const;
  Error orphaned(const Missing& webhook, const Failure& failure) const;
  Json details() const;
  bool finish(Ending::How how) {
    ending_.how = how;
    return false;
  }
  bool fail_with(Error error) {
    ending_.causes.push_back({.error = journal_.secrets().without(error), .blocks = {}});
    return finish(error.kind() == ErrorKind::timeout ? Ending::How::timed_out : Ending::How::failed);
  }
  bool fail_at_once(const Failure& failure);
  bool go_on(std::string why);

  Task<std::optional<Error>> release_trouble(const Failure& failure, WallTime begun);
  Error release_error(const Failure& failure, const kube::HelmRelease& release) const;
  const Cluster* cluster();
  void tell(EventKind kind, std::string state, std::string text) {
    journal_.add({.kind = kind,
                  .state = std::move(state),
                  .text = std::move(text),
                  .details = Json(Json::Object{{"attempt", uint64_t{ending_.attempts.size()}}})});
  }

  World world_;
  Options options_;
  journal::Journal& journal_;
  CancelSource* stop_;
  std::string program_;
  TimePoint begun_;
  TimePoint deadline_;
  Ending ending_;
  std::optional<Cluster> cluster_;
  std::optional<Error> unreachable_;
};

Json Engine::details() const {
  auto seconds = [](Duration duration) { return std::chrono::duration<double>(duration).count(); };
  Json::Array attempts;
  for (const Attempt& attempt : ending_.attempts) {
    Json one(Json::Object{{"exitCode", int64_t{attempt.ending.exit_code()}}, {"seconds", seconds(attempt.took)}});
    if (attempt.failure) {
      one.make("failure") = name_of(attempt.failure->kind);
      one.make("cause") = attempt.failure->cause;
    }
    if (attempt.waited > Duration::zero()) {
      one.make("waitedSeconds") = seconds(attempt.waited);
      one.make("proved") = attempt.is_proved;
    }
    attempts.push_back(std::move(one));
  }
  return Json::Object{{"attempts", std::move(attempts)}};
}

Task<bool> Engine::run_once() {
  TimePoint begun = now();
  WallTime wall_begun = world_.loop.clock().wall_now();
  journal_.add({.kind = EventKind::progress,
                .state = "running",
                .text = program_,
                .details = Json(Json::Object{{"attempt", uint64_t{ending_.attempts.size() + 1}}})});
  std::string limit = options_.timeout ? shown_time(*options_.timeout) : "";
  Result<CommandEnding> ended =
      co_await with_deadline(world_.loop, deadline_,
                             fmt::format("{} was stopped after {} (--timeout)", program_, limit), world_.run_command());
  if (!ended) co_return fail_with(ended.error());
  Attempt& attempt = ending_.attempts.emplace_back(Attempt{.ending = *std::move(ended), .took = now() - begun});
  if (attempt.ending.ok()) co_return finish(Ending::How::done);
  if (is_stopped()) co_return finish(Ending::How::interrupted);
  attempt.failure = read_failure(attempt.ending.output);
  attempt.ending.output = {};
  co_return co_await consider(*attempt.failure, wall_begun);
}

Task<bool> Engine::consider(const Failure& failure, WallTime begun) {
  const CommandEnding& ending = ending_.attempts.back().ending;
  bool is_last = ending_.attempts.size() > size_t(std::max(0, options_.retries));
  if (std::optional<Error> trouble = co_await release_trouble(failure, begun)) co_return fail_with(*std::move(trouble));
  if (failure.kind != Failure::Kind::missing || !ending.exit_status) co_return fail_at_once(failure);
  if (!is_last) {
    tell(EventKind::note, "failed", fmt::format("{} failed with {}: {}", program_, ending.text(), failure.cause));
    co_return co_await wait_before_next(failure);
  }
  std::string what = options_.retries <= 0 ? fmt::format("{} failed with {}", program_, ending.text())
                                           : fmt::format("{} failed {} times", program_, ending_.attempts.size());
  co_return fail_with(
      Error(ErrorKind::unavailable, std::move(what)).because(failure.cause).next(doctor_for(failure.missing.front())));
}

namespace {

// What is known of the end of a command whose output says nothing about it.
std::string ending_cause(const CommandEnding& ending) {
  constexpr int kKilled = 128 + SIGKILL;
  std::string_view memory = "the kernel does that when memory runs out";
  if (ending.signal == SIGKILL) return fmt::format("it was killed from outside; {}", memory);
  if (ending.signal) return "it was stopped from outside";
  if (ending.exit_status == kKilled)
    return fmt::format("a program in it was killed, which exit status {} stands for; {}", kKilled, memory);
  return "its output names no webhook, CRD or API that is not there yet";
}

}  // namespace

bool Engine::fail_at_once(const Failure& failure) {
  std::string_view again = ending_.attempts.size() > 1 ? "is not run again" : "is not retried";
  Error error(ErrorKind::unavailable,
              fmt::format("{} failed with {}, and {}", program_, ending_.attempts.back().ending.text(), again));
  bool is_told = failure.kind != Failure::Kind::missing && !failure.cause.empty();
  error = std::move(error).because(is_told ? failure.cause : ending_cause(ending_.attempts.back().ending));
  return fail_with(failure.next.empty() ? std::move(error) : std::move(error).next(failure.next));
}

const Cluster* Engine::cluster() {
  if (!cluster_ && !unreachable_) {
    Result<Cluster> connected = world_.connect();
    if (connected) cluster_ = *std::move(connected);
    else unreachable_ = connected.error();
  }
  return cluster_ ? &*cluster_ : nullptr;
}

// A release that is left behind makes the next run fail, whatever came of this one.
Task<std::optional<Error>> Engine::release_trouble(const Failure& failure, WallTime begun) {
  using Kind = Failure::Kind;
  bool is_left_behind = failure.kind == Kind::missing && failure.is_installation && !failure.is_rolled_back;
  // helm install --replace uses the name of a failed release again.
  if (std::ranges::find(options_.command, "--replace") != options_.command.end()) is_left_behind = false;
  if (failure.kind != Kind::release_pending && failure.kind != Kind::name_in_use && !is_left_behind)
    co_return std::nullopt;
  const Cluster* cluster = this->cluster();
  if (!cluster) co_return std::nullopt;
  CancelSource limit(stop_);
  CancelAt timer(world_.loop, std::min(deadline_, now() + options_.delay), limit);
  auto releases = co_await read_releases(*cluster).governed_by(&limit);
  auto could_be_it = [&](const kube::HelmRelease& release) {
    if (failure.kind == Kind::release_pending) return release.is_pending();
    if (failure.kind == Kind::name_in_use)
      return std::ranges::find(options_.command, release.name) != options_.command.end();
    bool is_of_this_run = release.modified && *release.modified + kClockSkew >= begun;
    return is_of_this_run && (release.status == "failed" || release.status == "pending-install");
  };
  std::optional<kube::HelmRelease> release = find_release(
      releases, {.command = options_.command, .default_namespace = cluster->default_namespace}, could_be_it);
  if (!release) co_return std::nullopt;
  co_return release_error(failure, *release);
}

Error Engine::release_error(const Failure& failure, const kube::HelmRelease& release) const {
  const CommandEnding& ending = ending_.attempts.back().ending;
  Error error(ErrorKind::unavailable, fmt::format("{} failed with {}, and is not run again", program_, ending.text()));
  std::string name = fmt::format("Helm release {}/{}", release.ns, release.name);
  if (failure.kind == Failure::Kind::missing) {
    Error left(ErrorKind::unavailable, fmt::format("{} is left {}, so its name is in use", name, release.status));
    return std::move(error).because(std::move(left).because(failure.cause)).next(release.repair());
  }
  error = std::move(error).because(fmt::format("{} is {} (revision {})", name, release.status, release.revision));
  if (release.is_pending())
    return std::move(error).next(fmt::format("{}; but only if no other helm is working on it", release.repair()));
  if (release.status == "deployed")
    return std::move(error).next(fmt::format("helm -n {} upgrade --install {}", release.ns, release.name));
  return std::move(error).next(release.repair());
}

bool Engine::go_on(std::string why) {
  tell(EventKind::note, "retry",
       fmt::format("{}: running {} again (retry {} of {})", why, program_, ending_.attempts.size(), options_.retries));
  return true;
}

Error Engine::taken_back(const Failure& failure) const {
  Error gone(ErrorKind::unavailable, fmt::format("{} is not registered any more", subjects_of(failure.missing)));
  return Error(ErrorKind::unavailable, fmt::format("{} takes back what it installs, so it cannot be retried", program_))
      .because(std::move(gone).because(failure.cause))
      .next("leave out --atomic or --rollback-on-failure");
}

Error Engine::orphaned(const Missing& webhook, const Failure& failure) const {
  Error gone(ErrorKind::unavailable,
             fmt::format("namespace {} of its service {} does not exist: nobody is left that could answer",
                         webhook.webhook.ns, webhook.webhook.service));
  return Error(ErrorKind::unavailable, fmt::format("{} is registered, and cannot come back", webhook.subject()))
      .because(std::move(gone).because(failure.cause))
      .next(doctor_for(webhook));
}

Task<Result<Waited>> Engine::wait_for_missing(const Failure& failure, TimePoint due) {
  std::string subjects = subjects_of(failure.missing);
  CancelSource limit(stop_);
  CancelAt timer(world_.loop, due, limit);
  Waited waited{.how = Waited::How::unknown, .reason = {}};
  if (const Cluster* cluster = this->cluster()) {
    Awaited awaited = co_await find_awaited(*cluster, failure.missing).governed_by(&limit);
    if (failure.is_rolled_back && awaited.unregistered) co_return fail(taken_back(failure));
    if (awaited.orphaned) co_return fail(orphaned(*awaited.orphaned, failure));
    std::string where = cluster->text.empty() ? "" : " in " + cluster->text;
    tell(EventKind::note, "waiting",
         fmt::format("waiting up to {} for {}{}", shown_time(due - now()), subjects, where));
    waited = co_await retry::wait_for(*cluster, awaited, options_, due, journal_, stop_);
  } else {
    waited.reason = unreachable_->message();
  }
  if (waited.how == Waited::How::unknown && !is_stopped()) {
    tell(
        EventKind::warning, "waiting",
        fmt::format("it cannot be found out when {} works, so the whole delay is waited: {}", subjects, waited.reason));
    (void)co_await sleep_until(world_.loop, due).governed_by(&limit);
  }
  co_return waited;
}

Task<bool> Engine::wait_before_next(const Failure& failure) {
  TimePoint begun = now();
  Result<Waited> waited = co_await wait_for_missing(failure, std::min(begun + options_.delay, deadline_));
  if (!waited) co_return fail_with(waited.error());
  Attempt& attempt = ending_.attempts.back();
  attempt.waited = now() - begun;
  attempt.is_proved = waited->how == Waited::How::there;
  if (is_stopped()) co_return finish(Ending::How::interrupted);
  std::string took = shown_time(attempt.waited);
  std::string seen = fmt::format("{} {}", subjects_of(failure.missing), state_text(failure.missing, attempt.is_proved));
  if (attempt.is_proved)
    co_return go_on(fmt::format("{} after {:.1f}s", seen, std::chrono::duration<double>(attempt.waited).count()));
  if (now() < deadline_ && waited->how == Waited::How::unknown) co_return go_on(fmt::format("{} are over", took));
  std::string reason = waited->reason.empty() ? "" : " (" + waited->reason + ")";
  if (now() < deadline_) co_return go_on(fmt::format("{} after {}{}", seen, took, reason));
  Error error(ErrorKind::timeout, fmt::format("{} after {} (--timeout)", seen, shown_time(*options_.timeout)));
  if (!waited->reason.empty()) error = std::move(error).because(waited->reason);
  co_return fail_with(std::move(error).next(doctor_for(failure.missing.front())));
}

}  // namespace

std::string CommandEnding::text() const {
  if (exit_status) return fmt::format("exit status {}", *exit_status);
  return fmt::format("signal {} ({})", signal, strsignal(signal));
}

Task<Ending> retry(World world, Options options, journal::Journal& journal, CancelSource* stop) {
  Engine engine(std::move(world), std::move(options), journal, stop);
  co_return co_await engine.execute();
}

}  // namespace fairlead::retry

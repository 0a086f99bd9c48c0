#include "wait/wait.h"

#include <algorithm>

#include "base/duration_text.h"
#include "readiness/sweeper.h"
#include "wait/internal/objects.h"

namespace fairlead::wait {

using journal::EventKind;
using State = ObjectEnding::State;

namespace {

// How often a run without a terminal says that it is still waiting.
constexpr Duration kStillWaiting = std::chrono::seconds(30);
// Removing shadows may take this long.
constexpr Duration kCleanUpTime = std::chrono::seconds(5);

uint64_t requests_of(const kube::Client& client) {
  uint64_t all = 0;
  for (const auto& [verb, count] : client.counts()) all += count;
  return all;
}

readiness::Prover::Options prover_options(const Options& options) {
  return {.run = options.run,
          .known_dead = options.run_known_dead,
          .namespaces = {options.default_namespace},
          .clean_up_time = kCleanUpTime};
}

bool may_prove(const Options& options) {
  return options.form.is(Form::Kind::ready) || options.form.is(Form::Kind::functional);
}

// Runs the parts of a wait, and makes its result.
class Engine {
 public:
  Engine(kube::Client& client, kube::Discovery& discovery, const Options& options, journal::Journal& journal,
         CancelSource* stop)
      : run_(client, discovery, options, journal),
        stop_(stop),
        scope_(run_.loop, stop),
        prover_(client, prover_options(options)),
        sweeper_(run_.loop, prover_),
        evidence_(client, discovery, scope_,
                  [this](std::string_view, const std::string&, const std::string&) {
                    webhooks_.notify();
                    objects_.evidence_changed();
                  }),
        webhooks_(run_, prover_, evidence_, scope_),
        kinds_(run_, scope_),
        objects_(run_, kinds_, webhooks_, evidence_, scope_) {}

  Task<Ending> execute(std::vector<Target> targets) {
    uint64_t requests = requests_of(run_.client);
    run_.journal.add(
        {.kind = EventKind::started,
         .details = Json(Json::Object{
             {"command", "wait"}, {"time", run_.journal.time_text()}, {"objects", uint64_t{targets.size()}}})});
    std::optional<Error> error = co_await reach(targets);
    if (!error) {
      begin(std::move(targets));
      while (!run_.is_certain() && !is_stopped())
        if (!co_await wait_for_result()) break;
      scope_.cancel();
    }
    co_await scope_.join();
    co_await sweeper_.end(is_stopped());
    co_await prover_.clean_up();
    Ending ending = make_ending(std::move(error));
    ending.requests = requests_of(run_.client) - requests;
    run_.journal.add({.kind = EventKind::ended, .state = std::string(name_of(ending.how))});
    co_return ending;
  }

 private:
  bool is_stopped() const { return stop_ && stop_->cancelled(); }

  // Returns why the run cannot begin.
  Task<std::optional<Error>> reach(const std::vector<Target>& targets) {
    for (const Target& target : targets)
      if (target.is_webhook && !may_prove(run_.options))
        co_return Error(ErrorKind::invalid,
                        fmt::format("--for {} cannot be used for {}", run_.options.form.text(), target.text()))
            .next(fmt::format("name the configuration: validatingwebhookconfiguration/{0} or "
                              "mutatingwebhookconfiguration/{0}",
                              target.name));
    auto known = co_await run_.discovery.all().governed_by(stop_);
    if (known || is_stopped()) co_return std::nullopt;
    co_return known.error().error();
  }

  void begin(std::vector<Target> targets) {
    warn_of_short_timeout(targets);
    for (Target& target : targets) run_.units.push_back({.target = std::move(target)});
    bool has_webhooks = run_.options.form.is(Form::Kind::functional) ||
                        std::ranges::any_of(run_.units, [](const Unit& unit) { return unit.target.is_webhook; });
    if (has_webhooks) sweeper_.begin();
    for (Unit& unit : run_.units) scope_.spawn(objects_.follow(unit));
    scope_.spawn(tell_still_waiting());
  }

  void warn_of_short_timeout(const std::vector<Target>& targets) {
    bool has_webhooks = std::ranges::any_of(targets, [](const Target& target) { return target.is_webhook; });
    const Options& options = run_.options;
    bool is_short = options.timeout && *options.timeout < kLeastWebhookTimeout && !options.allow_short;
    if (!has_webhooks || !is_short) return;
    run_.journal.add(
        {.kind = EventKind::warning,
         .text = fmt::format("--timeout {} is too short for a webhook: {} are used; --allow-short allows it",
                             short_text(*options.timeout), short_text(kLeastWebhookTimeout))});
  }

  Task<Result<void>> wait_for_result() {
    // Woken by a stop as well.
    co_return co_await wait_until(run_.loop, run_.settled, TimePoint::max()).governed_by(stop_);
  }

  Task<void> tell_still_waiting() {
    while (co_await sleep_for(run_.loop, kStillWaiting))
      run_.journal.add({.kind = EventKind::waiting, .text = run_.awaited()});
  }

  Ending make_ending(std::optional<Error> error) {
    Ending ending;
    ending.took = run_.loop.now() - run_.begun;
    ending.how = error ? Ending::How::failed : how();
    if (error) ending.causes.push_back({.error = *std::move(error), .blocks = {}});
    for (const Unit& unit : run_.units) {
      for (const Subject* subject : unit.subjects) add(ending, *subject);
      if (unit.error && ending.how != Ending::How::done) ending.causes.push_back({.error = *unit.error, .blocks = {}});
    }
    const Secrets& secrets = run_.journal.secrets();
    for (journal::Cause& cause : ending.causes) cause.error = secrets.without(cause.error);
    return ending;
  }

  Ending::How how() const {
    auto has = [&](State state) { return std::ranges::find(run_.units, state, &Unit::state) != run_.units.end(); };
    bool is_met = run_.options.any
                      ? std::ranges::find(run_.subjects, State::met, &Subject::state) != run_.subjects.end()
                      : !has(State::waiting) && !has(State::failed) && !has(State::timed_out);
    if (is_met) return Ending::How::done;
    if (is_stopped()) return Ending::How::interrupted;
    return has(State::failed) ? Ending::How::failed : Ending::How::timed_out;
  }

  void add(Ending& ending, const Subject& subject) {
    bool is_waiting = subject.state == State::waiting;
    ending.objects.push_back({.key = subject.key,
                              .source = subject.source,
                              .state = subject.state,
                              .reason = subject.reason,
                              .took = is_waiting ? run_.loop.now() - subject.begun : subject.took,
                              .webhooks = subject.webhooks});
    if (subject.state == State::met || ending.how == Ending::How::done) return;
    // After an interruption, and beside a failure, what is still waited for is no error.
    if (is_waiting && ending.how != Ending::How::timed_out) return;
    Error error = subject.error ? *subject.error : run_.unmet_error(subject, run_.loop.now() - subject.begun);
    ending.causes.push_back({.error = std::move(error), .blocks = {}});
  }

  Run run_;
  CancelSource* stop_;
  Scope scope_;
  readiness::Prover prover_;
  readiness::Sweeper sweeper_;
  rollout::Evidence evidence_;
  Webhooks webhooks_;
  Kinds kinds_;
  Objects objects_;
};

}  // namespace

std::string_view name_of(State state) {
  switch (state) {
    case State::met: return "met";
    case State::failed: return "failed";
    case State::timed_out: return "timed out";
    case State::waiting: return "waiting";
  }
  return "";
}

Task<Ending> wait_for(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop) {
  Engine engine(client, discovery, options, journal, stop);
  co_return co_await engine.execute(std::move(targets));
}

}  // namespace fairlead::wait

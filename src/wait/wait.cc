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
// Objects that time out within this time of each other time out together.
constexpr Duration kMoment = std::chrono::seconds(1);
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

// Removes secrets from the result, since it does not pass through the journal.
void conceal(const Secrets& secrets, Ending& ending) {
  for (journal::Cause& cause : ending.causes) cause.error = secrets.without(cause.error);
  for (ObjectEnding& object : ending.objects) {
    object.reason = secrets.without(object.reason);
    for (WebhookEnding& webhook : object.webhooks) {
      for (Layer& layer : webhook.layers) {
        layer.text = secrets.without(layer.text);
        layer.next = secrets.without(layer.next);
      }
      for (std::string& seen : webhook.evidence) seen = secrets.without(seen);
    }
  }
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
    Json started(Json::Object{{"command", "wait"}, {"time", run_.journal.time_text()}});
    // How many objects a selector chooses is not known yet.
    if (std::ranges::none_of(targets, &Target::is_group)) started.make("objects") = uint64_t{targets.size()};
    run_.journal.add({.kind = EventKind::started, .details = std::move(started)});
    std::optional<Error> error = co_await reach(targets);
    if (!error) {
      begin(std::move(targets));
      while (!run_.is_certain() && !is_stopped())
        if (!co_await wait_for_result()) break;
      scope_.cancel();
    }
    co_await scope_.join();
    co_await sweeper_.end(is_stopped() || objects_.has_given_up());
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
    if (Result<void> checked = check(targets, run_.options); !checked) co_return checked.error();
    Duration time = run_.reading_time(std::ranges::any_of(targets, &Target::is_webhook));
    CancelSource cancel(stop_);
    CancelAt timer(run_.loop, run_.loop.now() + time, cancel);
    auto known = co_await run_.discovery.all().governed_by(&cancel);
    if (known || is_stopped()) co_return std::nullopt;
    if (!timer.fired()) co_return known.error().error();
    co_return Error(ErrorKind::timeout, fmt::format("the cluster could not be read within {}", short_text(time)))
        .because("the API server does not answer")
        .next(std::string(kAskServer));
  }

  void begin(std::vector<Target> targets) {
    warn_of_short_timeout(targets);
    for (Target& target : targets) run_.units.push_back({.target = std::move(target), .begun = run_.loop.now()});
    bool has_webhooks = run_.options.form.is(Form::Kind::functional) ||
                        std::ranges::any_of(run_.units, [](const Unit& unit) { return unit.target.is_webhook; });
    if (has_webhooks) sweeper_.begin();
    for (Unit& unit : run_.units) scope_.spawn(objects_.follow(unit));
    scope_.spawn(objects_.end_overdue());
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
    while (co_await sleep_for(run_.loop, kStillWaiting)) {
      std::string awaited = run_.awaited();
      // The last of it timed out at this moment.
      if (awaited.empty()) continue;
      run_.journal.add({.kind = EventKind::waiting,
                        .text = std::move(awaited),
                        .details = Json(Json::Object{{"met", run_.count_met()}, {"objects", run_.count()}})});
    }
  }

  // Objects whose time is over when the first of them ends the run, or would be in a moment: they were seen one after
  // another.
  void end_what_is_due() {
    for (Unit& unit : run_.units)
      for (Subject* subject : unit.subjects) {
        Duration moment = std::min<Duration>(kMoment, run_.timeout_for(*subject) / 10);
        if (!subject->is_settled() && run_.loop.now() + moment >= run_.due(*subject)) run_.timed_out(*subject);
      }
  }

  Ending make_ending(std::optional<Error> error) {
    Ending ending;
    ending.took = run_.loop.now() - run_.begun;
    bool is_late = error && error->kind() == ErrorKind::timeout;
    ending.how = is_late ? Ending::How::timed_out : error ? Ending::How::failed : how();
    if (ending.how == Ending::How::timed_out) end_what_is_due();
    if (error) ending.causes.push_back({.error = *std::move(error), .blocks = {}});
    for (const Unit& unit : run_.units) {
      for (const Subject* subject : unit.subjects) add(ending, *subject);
      if (unit.error && ending.how != Ending::How::done) ending.causes.push_back({.error = *unit.error, .blocks = {}});
    }
    conceal(run_.journal.secrets(), ending);
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

Result<void> check(const std::vector<Target>& targets, const Options& options) {
  for (const Target& target : targets)
    if (target.is_webhook && !may_prove(options))
      return fail(
          Error(ErrorKind::invalid, fmt::format("--for {} cannot be used for {}", options.form.text(), target.text()))
              .next(fmt::format("name the configuration: validatingwebhookconfiguration/{0} or "
                                "mutatingwebhookconfiguration/{0}",
                                target.name)));
  auto names_webhooks = [](const Target& target) {
    return target.is_webhook || target.kind.ends_with("WebhookConfiguration") ||
           std::ranges::any_of(target.kinds, [](const std::string& kind) {
             return kind.contains("ebhookconfiguration") || kind.contains("ebhookConfiguration");
           });
  };
  if (options.probe && (!may_prove(options) || std::ranges::none_of(targets, names_webhooks)))
    return fail(Error(ErrorKind::invalid, "--probe-with is for webhooks, and none is waited for")
                    .next("fairlead wait webhook/NAME --probe-with FILE"));
  return {};
}

Task<Ending> wait_for(kube::Client& client, kube::Discovery& discovery, std::vector<Target> targets, Options options,
                      journal::Journal& journal, CancelSource* stop) {
  Engine engine(client, discovery, options, journal, stop);
  co_return co_await engine.execute(std::move(targets));
}

}  // namespace fairlead::wait

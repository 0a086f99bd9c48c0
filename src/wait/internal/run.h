// The state of a wait that its parts share, and what is told about it. For the room only.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "async/signal.h"
#include "kube/discovery.h"
#include "readiness/why.h"
#include "wait/wait.h"

namespace fairlead::wait {

// What is said of an object that was never seen.
inline constexpr std::string_view kAbsent = "it does not exist yet";

// An object that is waited for.
struct Subject {
  object::Key key;
  std::string source;
  ObjectEnding::State state = ObjectEnding::State::waiting;
  TimePoint begun{};
  // When it was first seen to exist, and its UID then.
  std::optional<TimePoint> seen = {};
  std::string uid = {};
  std::string reason = {};
  // Why it does not meet the form, as far as its pods or its backend tell.
  readiness::Why why = {};
  // What to look at if `why` does not say.
  std::string next = {};
  std::optional<Error> error = {};
  Duration took{};
  bool is_webhook = false;
  std::vector<WebhookEnding> webhooks = {};

  bool is_settled() const { return state != ObjectEnding::State::waiting; }
};

// A target and its objects.
struct Unit {
  Target target;
  ObjectEnding::State state = ObjectEnding::State::waiting;
  std::vector<Subject*> subjects = {};
  TimePoint begun{};
  // Set if the unit failed or timed out without any object.
  std::optional<Error> error = {};

  bool is_settled() const { return state != ObjectEnding::State::waiting; }
};

struct Run {
  Run(kube::Client& client, kube::Discovery& discovery, const Options& options, journal::Journal& journal);

  Subject& add(Unit& unit, object::Key key);
  // Says what was seen last, if it is something new.
  void tell(Subject& subject, std::string reason, std::string_view state = "waiting");
  // Call when the object is seen to exist.
  void seen(Subject& subject);
  void met(Subject& subject, std::string reason);
  void failed(Subject& subject, Error error);
  void timed_out(Subject& subject);
  // The same for a whole unit. A unit with one subject is settled with it.
  void settle(Unit& unit, ObjectEnding::State state, std::optional<Error> error = std::nullopt);

  // When the time of the subject is over.
  TimePoint due(const Subject& subject) const;
  Duration timeout_for(const Subject& subject) const;
  // When what was read of the unit must have settled it. Only an API server that does not answer makes it later.
  TimePoint limit(const Unit& unit) const;
  // The same for reading what the API server serves, before there are units.
  Duration reading_time(bool has_webhooks) const;
  // True if nothing can change the result any more.
  bool is_certain() const;
  // The objects that meet the form, and all that are waited for, as far as they are known.
  uint64_t count_met() const;
  uint64_t count() const;
  // "Deployment team/web (0 of 1 replicas is ready), …": what is still waited for.
  std::string awaited() const;
  Error unmet_error(const Subject& subject, std::optional<Duration> within) const;

  kube::Client& client;
  kube::Discovery& discovery;
  const Options& options;
  journal::Journal& journal;
  Loop& loop;
  TimePoint begun;
  // Notified when a unit or subject is settled.
  Signal settled;
  // Notified when limits have changed.
  Signal limits_changed;
  std::deque<Unit> units;
  std::deque<Subject> subjects;
};

// How an error ends that says that the API server was silent.
inline constexpr std::string_view kAskServer = "kubectl get --raw /readyz?verbose";

// Waits for the signal, at most until `time`. Fails only if cancelled.
Task<Result<void>> wait_until(Loop& loop, Signal& signal, TimePoint time);

// "kubectl -n team describe deployments.apps web"; empty if a name does not belong on a command line.
std::string kubectl(std::string_view verb, const std::string& resource, const std::string& ns, const std::string& name);

}  // namespace fairlead::wait

// The state that the parts of the engine share: the targets, the plan, and what is known of each object.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/scope.h"
#include "base/backoff.h"
#include "removal/diagnosis/progress.h"
#include "removal/internal/refusal.h"
#include "removal/order/plan.h"
#include "removal/removal.h"

namespace fairlead::removal {

// The pauses between tries of a request that failed and may succeed later.
inline constexpr Backoff kRetryPauses(std::chrono::milliseconds(200), std::chrono::seconds(10));

// Returns how many requests the client has sent, of all verbs.
uint64_t requests_of(const kube::Client& client);

// What is known of one target.
struct TargetState {
  // The user did not ask for it. It is deleted with its namespace, and has to be deleted before whatever cleans it up.
  bool implied = false;
  // It was implied, and is left alone after all, because its namespace stays.
  bool spared = false;
  // Empty if the cluster does not serve its kind.
  std::optional<object::Resource> resource;
  // The UID of the object to delete; empty while none was seen.
  std::string uid;
  // The object as it was last seen; for most kinds only its metadata.
  Json last;
  Progress progress;

  // Its deletion has begun: its DELETE was accepted, or it was being deleted already.
  bool told = false;
  // When it last made progress.
  TimePoint moved_at{};
  // How many objects were left in it when that was first known, and when that was.
  std::optional<uint64_t> first_remaining;
  TimePoint first_remaining_at{};
  // The last failure of its DELETE, until one is accepted.
  std::optional<Error> fault;
  // Why its deletion makes no progress, as far as that is known.
  std::optional<Error> stuck;
  // When its time is nearly over. The cause that blocks it is then looked for even if it still makes progress.
  TimePoint last_look_at = TimePoint::max();
  std::optional<Error> kept_by;
  // When to report again that it is stuck, and how often that was reported.
  TimePoint tell_at{};
  int told_stuck = 0;
  int forced = 0;
  std::optional<Loop::TimerId> timer;

  ObjectEnding::State state = ObjectEnding::State::not_begun;
  std::optional<Error> error;
  // Why it is kept because of objects of others; this is no failure.
  std::optional<Error> kept;
};

// The state of one run. What the references point to must outlive it.
struct Run {
  Run(kube::Client& client_, kube::Discovery& discovery_, journal::Journal& journal_, Options options_,
      std::vector<Target> targets_)
      : client(client_),
        discovery(discovery_),
        journal(journal_),
        options(std::move(options_)),
        targets(std::move(targets_)),
        loop(client_.loop()),
        changed(loop),
        states(targets.size()) {
    for (uint32_t i = 0; i < targets.size(); ++i) index.emplace(targets[i].key, i);
  }

  kube::Client& client;
  kube::Discovery& discovery;
  journal::Journal& journal;
  const Options options;
  std::vector<Target> targets;
  Loop& loop;
  // Notified when the plan or the state of an object has changed.
  Signal changed;
  // Cancelling it ends every wait, but no DELETE of a target: when a run is stopped, those in flight may end.
  CancelSource waits;
  // Cancelling it ends requests that change something. This happens some time after `waits` was cancelled.
  CancelSource requests;
  bool stopping = false;
  bool out_of_time = false;
  std::vector<TargetState> states;
  std::unordered_map<object::Key, uint32_t> index;
  Order order;
  // Refers to the order.
  std::optional<Plan> plan;
  // The owners of targets that belong to bundles.
  Owners owners;

  const object::Key& key(uint32_t i) const { return targets[i].key; }
  Duration timeout_for(const object::Key& key) const;
  std::optional<uint32_t> find(const object::Key& key) const;
  std::optional<uint32_t> find_namespace_of(uint32_t i) const;
  // Adds a target that the user did not ask for. Has no effect if it is a target already.
  void imply(Target target);

  // Both add an event to the journal: tell() about a target, note() about the run.
  void tell(journal::EventKind kind, uint32_t i, std::string state, std::string text, std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  // Takes in the current form of a target, from a watch or from the answer to a request. Has no effect on a settled
  // target.
  void see(uint32_t i, const Json& object);
  // Both settle the target: it was deleted, or it failed and ends in `state`.
  void gone(uint32_t i, std::string how = {});
  void failed(uint32_t i, ObjectEnding::State state, Error error);
  // Settles the target as refused. Adds its source to the error.
  void refuse(uint32_t i, Error error);
  // Notes that the target has made progress, as other objects show.
  void moved(uint32_t i);
  // Notes how many objects are left that have to be deleted before the target.
  void left(uint32_t i, uint64_t remaining);
  void settle(uint32_t i, ObjectEnding::State state);
};

// Returns "12 of 40 left, 1.5 a second"; empty if it is not known how much is left.
std::string rate_text(const TargetState& entry, TimePoint now);

}  // namespace fairlead::removal

// The state that the parts of the engine share: the targets, the plan, and what is known of each object.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/halt.h"
#include "async/signal.h"
#include "base/backoff.h"
#include "removal/diagnosis/progress.h"
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
  // The objects that may tell more about `stuck` or `kept_by` (Explanation::suspects).
  std::vector<Json> suspects;
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

// The state of one run, which the parts of the engine share. A part changes it only through the methods below: edit()
// for what is known of a target, and gone(), failed(), refuse(), ended() and spare() for what became of it. The run
// itself sends nothing. The parts that do so have the client. What the references point to must outlive the run.
class Run {
 public:
  Run(Loop& loop, journal::Journal& journal, Options options, std::vector<Target> targets);

  const Options& options() const { return options_; }
  Loop& loop() const { return loop_; }
  // Secrets, which must not be shown.
  const Secrets& secrets() const { return journal_.secrets(); }
  // True if somebody reads the details of events.
  bool is_detailed() const { return journal_.is_detailed(); }

  // Notified when the plan or the state of an object has changed.
  Signal& changed() { return changed_; }
  // Ends the run early. A DELETE of a target is one of the requests that may end.
  Halt& halt() { return halt_; }
  const Halt& halt() const { return halt_; }

  const plan::IdVector<NodeId, Target>& targets() const { return targets_; }
  // The numbers of the targets, which are also their nodes in the plan.
  plan::IdRange<NodeId> ids() const { return targets_.ids(); }
  const object::Key& key(NodeId i) const { return targets_[i].key; }
  std::optional<NodeId> find(const object::Key& key) const;
  std::optional<NodeId> find_namespace_of(NodeId i) const;
  // Adds a target that the user did not ask for. Has no effect if it is a target already. Requires that there is no
  // plan yet.
  void imply(Target target);

  const TargetState& state(NodeId i) const { return states_[i]; }
  // For the parts that find out about a target.
  TargetState& edit(NodeId i) { return states_[i]; }
  Duration timeout_for(const object::Key& key) const;

  // The order that the plan was made from.
  const Order& order() const { return order_; }
  // Null until make_plan() was called.
  const Plan* plan() const { return plan_ ? &*plan_ : nullptr; }
  void make_plan(Order order);
  // Returns the targets that may be deleted now. Each is returned once.
  std::vector<NodeId> take_startable() { return plan_->take_startable(); }

  // Each adds an event to the journal: tell() about a target, note() about the run.
  void add_event(journal::Event event) { journal_.add(std::move(event)); }
  void tell(journal::EventKind kind, NodeId i, std::string state, std::string text, std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  // Takes in the current form of a target, from a watch or from the answer to a request. Has no effect on a settled
  // target.
  void see(NodeId i, const Json& object);
  // Notes that the target has made progress, as other objects show.
  void moved(NodeId i);
  // Notes how many objects are left that have to be deleted before the target.
  void left(NodeId i, uint64_t remaining);

  // Each settles the target. gone(): it was deleted. failed(): it was not, and ends in `state`.
  void gone(NodeId i, std::string how = {});
  void failed(NodeId i, ObjectEnding::State state, Error error);
  // Settles the target as refused. Adds its source to the error.
  void refuse(NodeId i, Error error);
  // Settles the target in a state that is neither: it is absent or kept, or nobody waits for its end.
  void ended(NodeId i, ObjectEnding::State state);
  // Leaves an implied target alone, because its namespace stays.
  void spare(NodeId i);
  void cancel_timer(NodeId i);

 private:
  void settle(NodeId i, ObjectEnding::State state);

  journal::Journal& journal_;
  Options options_;
  Loop& loop_;
  Signal changed_;
  Halt halt_;
  plan::IdVector<NodeId, Target> targets_;
  plan::IdVector<NodeId, TargetState> states_;
  std::unordered_map<object::Key, NodeId> index_;
  Order order_;
  // Refers to the order.
  std::optional<Plan> plan_;
};

// Returns "12 of 40 left, 1.5 per second"; empty if it is not known how much is left.
std::string rate_text(const TargetState& entry, TimePoint now);

}  // namespace fairlead::removal

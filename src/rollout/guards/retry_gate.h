// Objects blocked by the same cause wait here. One of them, the scout, retries; the others wait for its result.
//
//   RetryGate::Place place;
//   while (true) {
//     outcome = co_await send(...);
//     if (outcome) break;                              // place.passed() opens every gate that it waited at
//     CO_TRY(co_await place.wait(gate_for(outcome)));  // until a retry is worthwhile
//   }
//
// The scout retries when the evidence changes. Otherwise it retries after a pause that grows with the time since the
// last change, from 50 ms to 10 s, because a pod that is Ready before it listens changes no evidence at all. However
// many objects wait, and however long, there is one request at a time. A second one is sent only if the evidence
// changes while the first one hangs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/signal.h"

namespace fairlead::rollout {

class RetryGate {
 public:
  // After kShortPauses pauses at a gate, the shortest pause begins to grow, to at most twice its length.
  static constexpr Duration kShortestPause = std::chrono::milliseconds(50);
  static constexpr int kShortPauses = 25;
  static constexpr Duration kLongestPause = std::chrono::seconds(10);
  // The shortest pause while the cluster state says that a retry must fail. We still retry because that state may be
  // incomplete.
  static constexpr Duration kUnlikelyPause = std::chrono::seconds(1);

  explicit RetryGate(Loop& loop) : loop_(loop), changed_(loop), scout_changed_(loop), evidence_at_(loop.now()) {}
  RetryGate(const RetryGate&) = delete;
  RetryGate& operator=(const RetryGate&) = delete;

  // The place of one object at the gates.
  class Place {
   public:
    Place() = default;
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Waits until a retry is worthwhile: the object is the scout and has paused, or the gate was opened. Fails when
    // cancelled.
    Task<Result<void>> wait(RetryGate& gate);
    // Call when the object was accepted. Opens every gate that it waited at.
    void passed();
    // Gives up this object's place. If it was the scout, another waiter takes over.
    void leave();

   private:
    RetryGate* at_ = nullptr;
    std::vector<RetryGate*> seen_;
  };

  // Lets every waiter retry.
  void open();
  // Call when an object that the cause depends on has changed. `likely`: the cluster state allows a retry to succeed;
  // then the scout retries at once.
  void evidence_changed(bool likely);

  size_t waiting() const { return waiting_; }

 private:
  Task<Result<void>> pause();
  Duration next_pause() const;

  Loop& loop_;
  Signal changed_;
  Signal scout_changed_;
  const Place* scout_ = nullptr;
  // True while the scout pauses; false while its request is in flight.
  bool pausing_ = false;
  // The number of pauses since the gate was last opened.
  int pauses_ = 0;
  uint64_t opened_ = 0;
  uint64_t evidence_ = 0;
  bool likely_ = true;
  size_t waiting_ = 0;
  TimePoint evidence_at_;
};

}  // namespace fairlead::rollout

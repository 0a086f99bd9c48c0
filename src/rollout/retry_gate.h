// Where objects wait that are held by the same thing: one of them, the scout, tries; the others wait for its answer.
//
//   RetryGate::Place place;
//   while (true) {
//     outcome = co_await send(...);
//     if (outcome) break;                              // place.passed() opens every gate that it waited at
//     CO_TRY(co_await place.wait(gate_for(outcome)));  // until it is worth another try
//   }
//
// The scout goes again when the evidence changes, and otherwise after a pause that grows with the time since it last
// changed, from 50 ms at first to 10 s: a pod that is Ready before it listens changes no evidence at all. However many
// wait, and however long, there is one request at a time; a second one only when the evidence changes while the first
// hangs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/signal.h"

namespace fairlead::rollout {

class RetryGate {
 public:
  // After so many pauses at a gate the shortest one grows, to twice as long.
  static constexpr Duration kShortestPause = std::chrono::milliseconds(50);
  static constexpr int kShortPauses = 25;
  static constexpr Duration kLongestPause = std::chrono::seconds(10);
  // While what the cluster shows says that a try cannot work: only in case that it shows less than there is.
  static constexpr Duration kUnlikelyPause = std::chrono::seconds(1);

  explicit RetryGate(Loop& loop)
      : loop_(loop), changed_(loop), scout_changed_(loop), evidence_at_(loop.now()) {}
  RetryGate(const RetryGate&) = delete;
  RetryGate& operator=(const RetryGate&) = delete;

  // One object's place at the gates.
  class Place {
   public:
    Place() = default;
    ~Place() { leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    // Until it is worth sending: as the scout, or because the gate was opened. Fails when cancelled.
    Task<Result<void>> wait(RetryGate& gate);
    // The object is through: so can the others be.
    void passed();
    // It does not wait any more, for whatever reason: another becomes the scout.
    void leave();

   private:
    RetryGate* at_ = nullptr;
    std::vector<RetryGate*> seen_;
  };

  // Everybody may go.
  void open();
  // What it hangs on has changed: the scout goes at once. `likely`: what the cluster shows allows a try to work.
  void evidence_changed(bool likely);

  size_t waiting() const { return waiting_; }

 private:
  Task<Result<void>> pause();
  Duration next_pause() const;

  Loop& loop_;
  Signal changed_;
  Signal scout_changed_;
  const Place* scout_ = nullptr;
  // The scout waits; otherwise it is on its way.
  bool pausing_ = false;
  // Since it was last open.
  int pauses_ = 0;
  uint64_t opened_ = 0;
  uint64_t evidence_ = 0;
  bool likely_ = true;
  size_t waiting_ = 0;
  TimePoint evidence_at_;
};

}  // namespace fairlead::rollout

// Watches over what was told to go: notices what makes no progress, finds out why, says so early and again with growing
// pauses, and takes finalizers away by force where that was asked for.
#pragma once

#include <string>
#include <vector>

#include "removal/investigation.h"
#include "removal/remaining_content.h"
#include "removal/run.h"
#include "removal/tracking.h"

namespace fairlead::removal {

class StuckMonitor {
 public:
  StuckMonitor(Run& run, const Tracker& tracker)
      : run_(run), tracker_(tracker), investigator_(run.client, run.discovery) {}

  // Until it is cancelled.
  Task<void> keep();

  // It begins to go: from now on it has the time of its kind, and no more than is left of the run's.
  void set_time(uint32_t target);
  // It was waited for that long, and is not any more: with what is known about it.
  void give_up(uint32_t target, Duration within);

 private:
  Error still_there(uint32_t target, Duration within) const;
  bool is_under_way(uint32_t target) const;
  // It has made no progress for long enough.
  bool is_stuck(uint32_t target) const;
  bool is_nearly_over(uint32_t target) const;
  // What speaks of why it does not go; nothing where that cannot be had or is of no use any more.
  Task<std::optional<Evidence>> evidence_of(uint32_t target);
  // Finds out why it is stuck, tells it, and does something about it where that was asked for.
  Task<void> look_at(uint32_t target);
  // Finds out what keeps it, before it is given up.
  Task<void> look_last_at(uint32_t target);
  Error explain_alike(const Evidence& evidence, uint32_t target) const;
  void tell_stuck(uint32_t target);
  void tell_waiting();
  // What was not told to go yet, and for what the first of it waits.
  std::string behind_text() const;
  Task<void> force(uint32_t target, const Evidence& evidence, const std::string& leaves);
  // Removes the finalizers of what is left in a namespace, so that its controller can end it. Its own finalizer only
  // where not everything in it can be reached, or nothing is left in it.
  Task<void> force_namespace(uint32_t target, const Evidence& evidence);
  Task<void> force_contents(uint32_t target, const RemainingContent& left);
  Task<void> finalize(uint32_t target, const Evidence& evidence, const std::string& unreachable);
  // Whether it may be done. If not, it is not asked again.
  Task<bool> may_force(uint32_t target, std::string question);
  void forced(uint32_t target, const kube::Outcome<kube::Reply>& done);
  bool is_alike(uint32_t one, uint32_t other) const;

  Run& run_;
  const Tracker& tracker_;
  Investigator investigator_;
  size_t looks_ = 0;
};

}  // namespace fairlead::removal

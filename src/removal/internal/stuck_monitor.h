// Monitors objects that are being deleted. Detects those that make no progress, finds the cause, reports it early and
// again after growing pauses, and removes finalizers if the user asked for that (--force-finalizers).
#pragma once

#include <string>
#include <vector>

#include "removal/diagnosis/investigation.h"
#include "removal/diagnosis/remaining_content.h"
#include "removal/internal/tracking.h"
#include "removal/run.h"

namespace fairlead::removal {

class StuckMonitor {
 public:
  StuckMonitor(Run& run, const Tracker& tracker)
      : run_(run), tracker_(tracker), investigator_(run.client, run.discovery) {}

  // Runs until it is cancelled.
  Task<void> keep();

  // Starts the time limit of the target: that of its kind, but at most the time that is left for the run.
  void set_time(uint32_t target);
  // Marks the target as failed after waiting for `within`, with the best cause known so far.
  void give_up(uint32_t target, Duration within);

 private:
  Error still_there(uint32_t target, Duration within) const;
  bool is_under_way(uint32_t target) const;
  // True if it has made no progress for Options::stuck_after.
  bool is_stuck(uint32_t target) const;
  bool is_nearly_over(uint32_t target) const;
  // Reads the evidence about the target; nothing if it cannot be read, or if the target is settled meanwhile.
  Task<std::optional<Evidence>> evidence_of(uint32_t target);
  // Finds out why the target is stuck, reports it, and removes finalizers if the user asked for that.
  Task<void> look_at(uint32_t target);
  // Finds out what blocks the target, before give_up() is called.
  Task<void> look_last_at(uint32_t target);
  Error explain_alike(const Evidence& evidence, uint32_t target) const;
  void tell_stuck(uint32_t target);
  void tell_waiting();
  // Returns how many targets were not sent yet, and what the first of them waits for.
  std::string behind_text() const;
  Task<void> force(uint32_t target, const Evidence& evidence, const std::string& leaves);
  // Removes the finalizers of the objects that are left in a namespace, so that its controller can finish the deletion.
  // Removes the namespace's own finalizers only if nothing is left in it that can be reached.
  Task<void> force_namespace(uint32_t target, const Evidence& evidence);
  Task<void> force_contents(uint32_t target, const RemainingContent& left);
  Task<void> finalize(uint32_t target, const Evidence& evidence, const std::string& unreachable);
  // Asks the user. Returns false if the answer was no, and the user is then not asked again, or if the target is
  // settled.
  Task<bool> may_force(uint32_t target, std::string question);
  void forced(uint32_t target, const kube::Outcome<kube::Reply>& done);
  bool is_alike(uint32_t one, uint32_t other) const;

  Run& run_;
  const Tracker& tracker_;
  Investigator investigator_;
  size_t looks_ = 0;
};

}  // namespace fairlead::removal

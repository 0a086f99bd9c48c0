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
  StuckMonitor(kube::Client& client, kube::Discovery& discovery, Run& run, const Tracker& tracker,
               WebhookConfigurations& configurations)
      : client_(client),
        discovery_(discovery),
        run_(run),
        tracker_(tracker),
        investigator_(client, discovery, configurations) {}

  // Runs until it is cancelled.
  Task<void> keep();

  // Starts the time limit of the target: that of its kind, but at most the time that is left for the run.
  void set_time(NodeId target);
  // Marks the target as failed after waiting for `within`, with the best cause known so far.
  void give_up(NodeId target, Duration within);

 private:
  Error still_there(NodeId target, Duration within) const;
  bool is_under_way(NodeId target) const;
  // True if it has made no progress for Options::stuck_after.
  bool is_stuck(NodeId target) const;
  bool is_nearly_over(NodeId target) const;
  // Reads the evidence about the target; nothing if it cannot be read, or if the target is settled meanwhile.
  Task<std::optional<Evidence>> evidence_of(NodeId target);
  // Finds out why the target is stuck, reports it, and removes finalizers if the user asked for that.
  Task<void> look_at(NodeId target);
  // Finds out what blocks the target, before give_up() is called.
  Task<void> look_last_at(NodeId target);
  Explanation explain_alike(const Evidence& evidence, NodeId target) const;
  // Notes why the target makes no progress (`stuck`), or what blocks it (`kept_by`).
  void note_stuck(NodeId target, Explanation found);
  void note_kept(NodeId target, Explanation found);
  void tell_stuck(NodeId target);
  void tell_waiting();
  // Returns how many targets were not sent yet, and what the first of them waits for.
  std::string behind_text() const;
  Task<void> force(NodeId target, const Evidence& evidence, const std::string& leaves);
  // Removes the finalizers of the objects that are left in a namespace, so that its controller can finish the deletion.
  // Removes the namespace's own finalizers only if nothing is left in it that can be reached.
  Task<void> force_namespace(NodeId target, const Evidence& evidence);
  Task<void> force_contents(NodeId target, const RemainingContent& left);
  Task<void> finalize(NodeId target, const Evidence& evidence, const std::string& unreachable);
  // Asks the user. Returns false if the answer was no, and the user is then not asked again, or if the target is
  // settled.
  Task<bool> may_force(NodeId target, std::string question);
  void forced(NodeId target, const kube::Outcome<kube::Reply>& done);
  bool is_alike(NodeId one, NodeId other) const;

  kube::Client& client_;
  kube::Discovery& discovery_;
  Run& run_;
  const Tracker& tracker_;
  Investigator investigator_;
  size_t looks_ = 0;
};

}  // namespace fairlead::removal

// Keeps the API server from forgetting a CRD that it is deleting.
//
// Every API server of a cluster deletes the instances of the CRD and then takes off the CRD's finalizer. If two of them
// conflict in that, both stop and count on being called again for the other's change. They are not: changes of the
// condition Terminating alone are ignored. The CRD then stays, without instances, until the informers resync, which
// takes up to five minutes. Any other change of the CRD makes them look again, so its annotation is changed here.
#pragma once

#include <map>
#include <string_view>

#include "removal/internal/tracking.h"
#include "removal/run.h"

namespace fairlead::removal {

// Says how often the API server was reminded.
inline constexpr std::string_view kRemindedAnnotation = "fairlead.dev/deletion-reminders";

class CleanupReminder {
 public:
  CleanupReminder(kube::Client& client, Run& run, const Tracker& tracker)
      : client_(client), run_(run), tracker_(tracker) {}

  // Runs until it is cancelled.
  Task<void> keep();

 private:
  struct Reminder {
    Backoff pauses;
    TimePoint next;
    int count = 0;
  };

  // True if the API server has deleted all instances of this CRD and only has to let it go.
  bool is_only_to_be_let_go(NodeId target) const;
  Task<void> remind(NodeId target, int count);

  kube::Client& client_;
  Run& run_;
  const Tracker& tracker_;
  std::map<NodeId, Reminder> reminders_;
};

}  // namespace fairlead::removal

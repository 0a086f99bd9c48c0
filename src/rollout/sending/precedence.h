// Sends workloads, and the objects that their pods need, before CRDs. A pod takes seconds to start, and the API server
// is busy with a large CRD for a tenth of a second: a pod that waits for a few CRDs would start that much later.
#pragma once

#include <set>

#include "async/signal.h"
#include "rollout/core/run.h"

namespace fairlead::rollout {

class Precedence {
 public:
  explicit Precedence(const Run& run);

  // Waits until it is the object's turn. Only CRDs wait: for workloads, at most half a second, and while too many other
  // CRDs are being sent. Fails when cancelled. Otherwise, call sent() later.
  Task<Result<void>> await(NodeId node);
  // Call when the object was sent, whether it was accepted or not.
  void sent(NodeId node);

 private:
  void begin();
  // True if the workload can be sent soon: it needs few objects, these have to be stored but not ready, none of them is
  // a CRD, and no guard has to be proved.
  bool needs_little(NodeId workload) const;

  const Run& run_;
  // Workloads that were not sent yet, and until when CRDs wait for them.
  std::set<NodeId> first_;
  std::optional<TimePoint> until_;
  // The number of CRDs that are being sent.
  size_t definitions_ = 0;
  Signal changed_;
};

}  // namespace fairlead::rollout

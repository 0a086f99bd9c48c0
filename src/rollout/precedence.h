// What pods stand on goes before CRDs. A pod takes seconds to start, and the API server is busy with a large CRD for a
// tenth of one: what waits behind a few of them would start that much later.
#pragma once

#include <set>

#include "base/signal.h"
#include "rollout/run.h"

namespace fairlead::rollout {

class Precedence {
 public:
  explicit Precedence(const Run& run);

  // Until it is this object's turn; half a second at most for what does not go in.
  Task<Result<void>> await(uint32_t node);
  // It was sent, whatever came of it.
  void sent(uint32_t node);

 private:
  void begin();
  // It can go in at once, with nothing proved, and nothing ready but what is there.
  bool needs_little(uint32_t workload) const;

  const Run& run_;
  // Workloads that were not sent yet, and how long they are waited for.
  std::set<uint32_t> first_;
  std::optional<TimePoint> until_;
  // CRDs under way.
  size_t definitions_ = 0;
  Signal changed_;
};

}  // namespace fairlead::rollout

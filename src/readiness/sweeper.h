// Removes the shadows that killed runs left behind, while the caller does other work.
#pragma once

#include <span>
#include <vector>

#include "async/scope.h"
#include "readiness/shadow.h"

namespace fairlead::readiness {

class Sweeper {
 public:
  // Both must outlive the sweeper.
  Sweeper(Loop& loop, Prover& prover) : loop_(loop), prover_(prover), scope_(loop, nullptr) {}

  // Begins to remove shadows of other runs (Prover::sweep). The first form lists webhook configurations and policies
  // itself; the second takes lists, which must outlive the sweeper.
  void begin() { scope_.spawn(sweep()); }
  void begin(std::vector<std::span<const Json>> lists) { scope_.spawn(sweep(std::move(lists))); }

  // Waits until everything is removed, for a few seconds at most; not at all if the run is being stopped. Must be
  // called before the destructor.
  Task<void> end(bool stopping);

 private:
  Task<void> sweep();
  Task<void> sweep(std::vector<std::span<const Json>> lists);

  Loop& loop_;
  Prover& prover_;
  Scope scope_;
};

}  // namespace fairlead::readiness

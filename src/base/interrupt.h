// Ctrl-C and SIGTERM: the first asks work to stop, the second ends the process at once.
#pragma once

#include <memory>

#include "base/cancel.h"
#include "base/real_loop.h"

namespace fairlead {

// For as long as it lives. The source and the loop must outlive it.
class Interrupt {
 public:
  Interrupt(RealLoop& loop, CancelSource& source);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool happened() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

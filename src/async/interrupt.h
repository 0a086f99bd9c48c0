// Ctrl-C, SIGTERM and SIGHUP: the first asks work to stop, the second ends the process at once. Output that nobody
// reads any more (SIGPIPE, as of `| head`) asks work to stop as well.
#pragma once

#include <memory>

#include "async/cancel.h"
#include "async/real_loop.h"

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

// Ctrl-C and the like, for a program that passes them on instead of being ended by them.
#pragma once

#include <memory>

#include "async/real_loop.h"
#include "async/task.h"

namespace fairlead {

// For as long as it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT arrive here, but those that are ignored (nohup); so does
// SIGWINCH. SIGPIPE is ignored: a write fails instead. There must be one at a time, and no Interrupt beside it.
class Signals {
 public:
  struct Received {
    int number = 0;
    // The terminal sent it, so every process of our group has got it.
    bool is_from_terminal = false;
  };

  // The loop must outlive it.
  explicit Signals(RealLoop& loop);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Waits for the next one. Fails if cancelled.
  Task<Result<Received>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

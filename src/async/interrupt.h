// Ctrl-C, SIGTERM and SIGHUP: the first asks work to stop, the second ends the process at once. Output that nobody
// reads any more (SIGPIPE, as of `| head`) asks work to stop as well, unless it is a log that the work does not need.
#pragma once

#include <memory>

#include "async/cancel.h"
#include "async/real_loop.h"

namespace fairlead {

// What it means that nobody reads our output any more.
enum class LostReader { stops, is_ignored };

// For as long as it lives. The source and the loop must outlive it.
class Interrupt {
 public:
  // With LostReader::is_ignored, writes to a pipe without a reader fail instead; so it stays for the whole process.
  Interrupt(RealLoop& loop, CancelSource& source, LostReader lost_reader = LostReader::stops);
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool happened() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

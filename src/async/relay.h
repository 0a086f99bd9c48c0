// Runs a program in our place: it has our standard input, and what it writes goes to our standard output and standard
// error as it comes. Where those are a terminal, it writes to a terminal as well, of the same size, so it shows colours
// and progress as always. The end of what it wrote is kept.
//
// The program is in a process group of its own, unless we have the terminal, which it shares then. A reader of our
// output that goes away goes away for the program, too.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"

namespace fairlead {

struct RelaySpec {
  // The program and its arguments. Without a slash in it the program is looked for in our PATH.
  std::vector<std::string> argv;
  // What it reads; nothing: our standard input.
  std::optional<std::string> input = {};
  // So many of the last bytes that it writes to each are kept.
  size_t kept = size_t{256} << 10;
  // How long it has to end after SIGTERM.
  Duration grace = std::chrono::seconds(10);
};

struct RelayResult {
  // One of the two: what it ended with, or the signal that ended it.
  std::optional<int> exit_status;
  int signal = 0;
  // The end of what it wrote to its standard output and standard error. On one terminal, both are in the first.
  std::string output;
  std::string errors;
  // Why some of its output could not be written: "No space left on device"; else empty.
  std::string lost;
};

class Relay {
 public:
  // The loop must outlive it.
  explicit Relay(RealLoop& loop);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // One at a time. A program that ran is a result, however it ended. Errors are those of starting it (not_found if
  // there is no such program), and of being cancelled: then the program is ended, by SIGTERM first.
  Task<Result<RelayResult>> run(RelaySpec spec);

  bool is_running() const;
  // Sends the program a signal, and what it has started if it is in a group of its own.
  void pass(int signal);
  // True if it is in our process group, and so gets what the terminal sends.
  bool shares_terminal() const;
  // Call it when the size of our terminal has changed.
  void resize();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead

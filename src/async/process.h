// Running a program and waiting for its end.
//
// The program runs in a process group of its own, unless it shares our standard input (and so our terminal). Whoever
// wants a deadline puts with_deadline around it: a run that is cancelled ends the whole group, with SIGTERM first and
// SIGKILL after the grace time, and is over only when the program is gone. The program gets no descriptor of ours
// beyond the three standard ones, and one that it is to keep. What it leaves running in the background is not waited
// for.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"

namespace fairlead {

struct ProcessSpec {
  // The program and its arguments. Without a slash in it the program is looked for in our PATH; a relative path with a
  // slash is relative to `directory`.
  std::vector<std::string> argv;
  // On top of our own environment, and instead of variables of the same name there.
  std::vector<std::pair<std::string, std::string>> environment;
  // Where it runs; empty: where we are.
  std::string directory;

  enum class Input { null, inherit, text };
  Input input = Input::null;
  // What it reads, with Input::text.
  std::string input_text;

  // A program that writes more to its standard output is ended, with an error of kind `limit`.
  size_t max_output = size_t{16} << 20;
  // Of what it writes to its standard error, the last so many bytes are kept.
  size_t max_errors = size_t{64} << 10;
  // It writes to our standard output, or our standard error, instead.
  bool inherit_output = false;
  bool inherit_errors = false;

  Duration grace = std::chrono::seconds(5);

  // A descriptor that the program gets as its number 3; none if negative.
  int kept_descriptor = -1;
};

struct ProcessResult {
  // One of the two: what it ended with, or the signal that ended it.
  std::optional<int> exit_status;
  int signal = 0;
  std::string output;
  std::string errors;

  bool ok() const { return exit_status == 0; }
  // "exit status 3" or "signal 9 (Killed)".
  std::string ending() const;
};

// A program that ran is a result, however it ended; errors are those of running it at all, and being cancelled.
Task<Result<ProcessResult>> run_process(RealLoop& loop, ProcessSpec spec);

}  // namespace fairlead

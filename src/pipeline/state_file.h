// The file that keeps the state of a pipeline, and the lock that lets only one run at a time write it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "pipeline/state.h"

namespace fairlead::pipeline {

// Returns nothing if there is no such file.
std::expected<std::optional<State>, std::vector<Error>> read_state(const std::string& path);

// Replaces the file as a whole, so that nobody ever reads half of it: neither after a crash nor when the disk is full.
// Only the user can read it.
Result<void> write_state(const State& state, const std::string& path);

// Held by the run that may write the state. The kernel releases it if the process is killed, once the programs are gone
// too that inherited its descriptor: what a killed run has started is not started a second time beside it.
class StateLock {
 public:
  // Fails if another process holds it. `holder` tells people who does: "ann@laptop, process 4711".
  static Result<std::unique_ptr<StateLock>> acquire(const std::string& state_path, std::string_view holder);
  // Returns who holds the lock at the moment; nothing if nobody does.
  static std::optional<std::string> holder_of(const std::string& state_path);
  ~StateLock();
  // The open file that has the lock.
  int descriptor() const { return descriptor_; }
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

 private:
  StateLock(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace fairlead::pipeline

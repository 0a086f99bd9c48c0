// A program that was started and has not been waited for. For the room only.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <string>
#include <utility>
#include <vector>

#include "async/loop.h"
#include "async/task.h"

namespace fairlead {

// A descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();

// A file in memory rather than a pipe: there is nobody to feed it, and no SIGPIPE when nobody reads it.
Result<Fd> file_with(const std::string& text);

std::unexpected<Error> system_failure(const std::string& what, int error);

struct Child {
  pid_t pid;
  bool own_group;

  // Only before it is reaped: until then its number belongs to nobody else.
  void kill(int signal) const;
};

struct StartSpec {
  const std::vector<std::string>& argv;
  // Each as NAME=VALUE.
  std::vector<std::string> environment;
  std::string directory = {};
  // In a group of its own it cannot read from our terminal.
  bool own_group = true;
  // Its standard descriptors; those of ours where it is -1.
  int input = -1;
  int output = -1;
  int errors = -1;
  // Becomes its descriptor 3; none if negative.
  int kept = -1;
  // Signals that it does not ignore even if we do.
  std::vector<int> heeded = {};
};
// Errors say why it cannot be started: not_found if there is no such program.
Result<Child> start(StartSpec spec);

using Descriptor = boost::asio::posix::stream_descriptor;

// Becomes readable when the program has ended, which leaves it to be reaped by us. Ends the program if that fails.
Result<Fd> watch_end(const Child& child);
// Reaps it. Returns what waitpid() says.
Result<int> reap(const Child& child);

// Waits until something can be read. False when it was cancelled.
Task<bool> readable(Descriptor& descriptor);

// Asks the program to end, insists after the grace time, and waits until it has ended. Cannot be cancelled.
Task<void> end(Loop& loop, const Child& child, Descriptor& ending, Duration grace);

}  // namespace fairlead

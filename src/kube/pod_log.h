// The logs of containers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/client.h"

namespace fairlead::kube {

struct LogOptions {
  // May be empty for a pod with one container.
  std::string container;
  // The instance of the container before its last restart.
  bool previous = false;
  // At most so many lines and bytes. The last lines are kept, and of these the first bytes.
  std::optional<int64_t> tail_lines;
  std::optional<int64_t> limit_bytes;
};

// Reads the log of a container as it is now. The text is the container's own: mask secrets, and print it through
// base/printable.h.
Task<Outcome<std::string>> read_log(Client& client, std::string_view ns, std::string_view pod,
                                    const LogOptions& options = {});

// Opens the log of a container and follows it. The body ends when the container ends.
Task<Outcome<http::Answer>> follow_log(Client& client, std::string_view ns, std::string_view pod,
                                       const LogOptions& options = {});

// Cuts a log that arrives in pieces into lines. A line that is longer than `max_line` bytes is cut off.
class LogLines {
 public:
  static constexpr size_t kMaxLine = 4096;
  using Sink = std::function<void(std::string_view line)>;
  explicit LogLines(size_t max_line = kMaxLine) : max_line_(max_line) {}

  // Calls `sink` for every line that the piece completes, without its line break.
  void feed(std::string_view piece, const Sink& sink);
  // Call it at the end of the log: the last line may have no line break.
  void finish(const Sink& sink);

 private:
  size_t max_line_;
  std::string line_;
  bool has_line_ = false;
};

}  // namespace fairlead::kube

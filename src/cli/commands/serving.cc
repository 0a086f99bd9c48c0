#include "cli/commands/serving.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace fairlead::cli {

void write_log_lines(std::string_view lines) {
  // A pipe that is ready takes this much at once.
  constexpr size_t kPiece = 4096;
  while (!lines.empty()) {
    size_t end = lines.substr(0, kPiece).rfind('\n');
    size_t size = end == lines.npos ? std::min(lines.size(), kPiece) : end + 1;
    pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
    if (::poll(&ready, 1, 0) <= 0) return;
    ssize_t written = ::write(STDOUT_FILENO, lines.data(), size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    lines.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace fairlead::cli

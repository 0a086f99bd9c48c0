#include "cli/commands/serving.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cli/runs/timeouts.h"

namespace fairlead::cli {

void add_listen_flags(Command command, ListenFlags& flags, std::string_view metrics) {
  command.option("--address", flags.address, "IP address to listen on").value("IP").show_default();
  command.option("--port", flags.port, "Port for reviews, over HTTPS; 0 for any free one")
      .between(0, 65535)
      .value("PORT")
      .show_default();
  command
      .option("--metrics-port", flags.metrics_port, fmt::format("Port for {}, over HTTP; 0 for any free one", metrics))
      .between(0, 65535)
      .value("PORT")
      .show_default();
}

void add_drain_flags(Command command, ListenFlags& flags, std::string_view server) {
  command
      .option("--drain", flags.drain,
              fmt::format("How long requests are still accepted after {} was asked to stop", server))
      .value("DURATION")
      .show_default();
  command
      .option("--drain-limit", flags.drain_limit,
              "The longest time for that, while the Service still has the pod as an endpoint (needs POD_IP)")
      .value("DURATION")
      .show_default();
}

Result<webhook::ServeSpec> serve_spec_of(const ListenFlags& flags) {
  webhook::ServeSpec spec;
  spec.address = flags.address;
  spec.port = flags.port;
  spec.probe_port = flags.metrics_port;
  TRY_ASSIGN(spec.drain, read_duration("--drain", flags.drain));
  TRY_ASSIGN(spec.drain_limit, read_duration("--drain-limit", flags.drain_limit));
  return spec;
}

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

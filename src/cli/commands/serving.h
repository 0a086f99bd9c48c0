// What the commands share that serve until they are asked to stop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/core/flags.h"
#include "webhook/server/server.h"

namespace fairlead::cli {

// Where a server listens, and how long it goes on when it is asked to stop.
struct ListenFlags {
  std::string address = "0.0.0.0";
  uint16_t port = 9443;
  uint16_t metrics_port = 8080;
  std::string drain = "10s";
  std::string drain_limit = "30s";
};

// `server` is what help texts call it, as in "the gate"; `metrics` are the paths of the metrics port.
void add_listen_flags(Command command, ListenFlags& flags, std::string_view metrics);
void add_drain_flags(Command command, ListenFlags& flags, std::string_view server);
// An error if a duration cannot be read.
Result<webhook::ServeSpec> serve_spec_of(const ListenFlags& flags);

// Writes lines of a log to standard output. A log that cannot be written is no reason to stop serving: where its reader
// has stopped reading, lines are dropped.
void write_log_lines(std::string_view lines);

}  // namespace fairlead::cli

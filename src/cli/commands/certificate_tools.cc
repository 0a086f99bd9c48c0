#include "cli/commands/certificate_tools.h"

#include <unistd.h>

#include <charconv>

#include "cli/runs/timeouts.h"
#include "http/net/peer.h"
#include "inventory/holder.h"

namespace fairlead::cli {
namespace {

// How long an endpoint may take to answer. One that cannot be reached from here takes all of it.
constexpr Duration kHandshakeTimeout = std::chrono::seconds(3);

}  // namespace

Result<Duration> read_days(const std::string& flag, const std::string& text) {
  int64_t days = 0;
  const char* end = text.data() + text.size();
  auto [rest, error] = std::from_chars(text.data(), end, days);
  bool is_days = error == std::errc() && rest + 1 == end && *rest == 'd';
  if (!is_days) return read_duration(flag, text);
  // A WallTime ends in 2262.
  if (days >= 0 && days <= 80000) return days * certs::kDay;
  return fail(ErrorKind::invalid, "{}: {} is not a number of days from 0 to 80000", flag, text);
}

certs::ClusterProofs::Options proof_options(Cluster& cluster) {
  certs::Handshake handshake = [&loop = cluster.loop()](std::string address, int port, std::string name) {
    return http::read_peer_chain(loop, std::move(address), static_cast<uint16_t>(port), std::move(name),
                                 kHandshakeTimeout);
  };
  return {.run = inventory::run_of(::getpid()),
          .run_known_dead = inventory::is_gone_run,
          .handshake = std::move(handshake)};
}

}  // namespace fairlead::cli

// The connections that one loop serves: all of a server's, or those that its own loop hands to a further one.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "async/scope.h"
#include "http/net/server_tls.h"
#include "http/server/internal/server_session.h"

namespace fairlead::http {

class Lane {
 public:
  // `spec` has the limits of this lane alone.
  Lane(RealLoop& loop, ServerSpec spec, Server::Handler handler)
      : core_(loop, std::move(spec), std::move(handler)), scope_(loop, nullptr) {}

  RealLoop& loop() { return core_.loop; }

  // The next three are for the server's own loop.
  // How many connections it has, those included that are on their way to it.
  size_t connections() const { return connections_; }
  bool is_full() const { return connections_ >= core_.spec.limits.connections; }
  // `socket` belongs to the loop of this lane. Without `tls` it speaks plain HTTP.
  void hand_over(boost::asio::ip::tcp::socket socket, std::string peer_address, std::shared_ptr<TlsContext> tls);
  // Answers ask the peer to go elsewhere.
  void announce_drain() { core_.draining = true; }
  // No further connection comes.
  void stop() { core_.draining = core_.stopped = true; }

  // All others are for the loop of this lane.
  // Returns once there is room for a connection, or the server stops.
  Task<Result<void>> make_room();
  // Closes what is idle and waits for the rest. Returns how many requests were still in flight at the deadline.
  Task<Result<size_t>> drain(TimePoint deadline);
  Task<void> close();

 private:
  Task<void> serve(boost::asio::ip::tcp::socket socket, std::string peer_address, std::shared_ptr<TlsContext> tls);
  // The session for which that time is the earliest; null if no session has one.
  Session* longest(std::optional<TimePoint> (Session::*since)() const) const;
  Task<Result<void>> wait_for_sessions();

  ServerCore core_;
  std::atomic<size_t> connections_ = 0;
  Scope scope_;
};

}  // namespace fairlead::http

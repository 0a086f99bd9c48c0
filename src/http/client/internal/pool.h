// The connections to one server: made when they are needed, shared, let go. Inside this room only.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "async/scope.h"
#include "http/client/internal/connection.h"
#include "http/client/internal/h2_connection.h"
#include "http/net/connect.h"

namespace fairlead {
class RealLoop;
}

namespace fairlead::http {

struct PoolOptions {
  PingTimes ping_times;
  size_t max_connections;
  size_t max_http1_connections;
  // A server is near if the way there and back takes no longer. What a TLS handshake takes is computing then, on both
  // sides.
  Duration near = std::chrono::milliseconds(1);
};

class Pool {
 public:
  Pool(RealLoop& loop, Route route, PoolOptions options);

  // A connection with room, at once usable. With `id`, that one. Something long-lived would keep an HTTP/1.1 connection
  // to itself, which others may know by its id and wait for: it gets one that nobody has had.
  Task<Result<std::shared_ptr<Connection>>> find(uint64_t id, bool long_lived = false);

  // For connections that are made from now on; the others are retired.
  void set_tls(std::shared_ptr<const ClientTlsContext> tls);

  uint64_t made() const { return made_; }
  // Connections that are being made.
  size_t dialing() const { return dialing_; }
  const Url& server() const { return route_.server; }

  // Cancels and joins. Nothing can be found any more.
  Task<void> close();

 private:
  std::shared_ptr<Connection> with_room(bool long_lived);
  size_t live() const;
  size_t most() const { return one_each_ ? options_.max_http1_connections : options_.max_connections; }
  size_t most_dials() const;
  Result<std::shared_ptr<Connection>> by_id(uint64_t id);
  void dial_if_needed();
  Task<void> dial();
  std::shared_ptr<Connection> make_connection(Connected connected);

  RealLoop& loop_;
  Route route_;
  PoolOptions options_;
  Scope scope_;
  Signal changed_;
  std::vector<std::shared_ptr<Connection>> connections_;
  // Those that somebody has had.
  std::set<uint64_t> used_;
  size_t waiting_ = 0;
  size_t dialing_ = 0;
  // HTTP/1.1 as far as is known: a connection for each request.
  bool one_each_ = false;
  bool has_near_tls_ = false;
  bool closed_ = false;
  uint64_t made_ = 0;
  uint64_t failures_ = 0;
  std::optional<Error> last_failure_;
  TimePoint failed_at_{};
};

}  // namespace fairlead::http

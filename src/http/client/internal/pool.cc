#include "http/client/internal/pool.h"

#include <algorithm>

#include "async/real_loop.h"
#include "http/client/internal/h1_connection.h"

namespace fairlead::http {
namespace {

// How long no further connection is tried after one could not be made, while there are others.
constexpr Duration kPause = std::chrono::seconds(1);
// A further handshake takes as much of a near server's time as several requests do, which may be over meanwhile.
constexpr size_t kMostNearDials = 2;

}  // namespace

Pool::Pool(RealLoop& loop, Route route, PoolOptions options)
    : loop_(loop), route_(std::move(route)), options_(options), scope_(loop, nullptr), changed_(loop) {
  one_each_ = !route_.server.is_tls();
}

size_t Pool::live() const {
  return static_cast<size_t>(
      std::ranges::count_if(connections_, [](const auto& connection) { return !connection->retired(); }));
}

std::shared_ptr<Connection> Pool::with_room(bool long_lived) {
  bool must_be_new = long_lived && one_each_ && live() < most();
  // The first that has room: a server does best with one connection, and the last ones fall idle.
  for (const auto& connection : connections_)
    if (connection->room() > 0 && !(must_be_new && used_.contains(connection->id()))) return connection;
  return nullptr;
}

Result<std::shared_ptr<Connection>> Pool::by_id(uint64_t id) {
  for (const auto& connection : connections_)
    if (connection->id() == id && !connection->retired()) return connection->room() > 0 ? connection : nullptr;
  return fail(ErrorKind::unavailable, "connection {} to {} is gone", id, route_.server.address());
}

Task<Result<std::shared_ptr<Connection>>> Pool::find(uint64_t id, bool long_lived) {
  uint64_t failures_before = failures_;
  while (true) {
    if (closed_) co_return fail(ErrorKind::unavailable, "the client of {} is closed", route_.server.address());
    CO_TRY_ASSIGN(std::shared_ptr<Connection> connection,
                  id ? by_id(id) : Result<std::shared_ptr<Connection>>(with_room(long_lived)));
    if (connection) {
      used_.insert(connection->id());
      co_return connection;
    }
    if (!id && failures_ != failures_before && connections_.empty()) co_return fail(*last_failure_);
    ++waiting_;
    if (!id) dial_if_needed();
    Result<void> woken = co_await changed_.wait();
    --waiting_;
    if (!woken) co_return fail(woken.error());
  }
}

size_t Pool::most_dials() const {
  if (!one_each_) return 1;
  return has_near_tls_ ? std::min(waiting_, kMostNearDials) : waiting_;
}

void Pool::dial_if_needed() {
  if (live() + dialing_ >= most()) return;
  if (dialing_ >= most_dials()) return;
  if (live() > 0 && last_failure_ && loop_.now() < failed_at_ + kPause) return;
  ++dialing_;
  scope_.spawn(dial());
}

std::shared_ptr<Connection> Pool::make_connection(Connected connected) {
  const Url& server = route_.server;
  std::shared_ptr<Connection> made;
  if (connected.http2) {
    made = make_h2_connection(
        loop_, std::move(connected.stream),
        {.peer = server.address(), .scheme = server.scheme, .authority = server.authority(), .prefix = server.path},
        options_.ping_times);
  } else {
    bool asks = route_.asks_proxy();
    made = make_h1_connection(loop_, std::move(connected.stream),
                              {.peer = server.address(),
                               .authority = server.authority(),
                               .prefix = asks ? server.text() : server.path,
                               .proxy_authorization = asks ? proxy_authorization(*route_.proxy) : ""});
  }
  made->on_room = [this] { changed_.notify_all(); };
  return made;
}

Task<void> Pool::dial() {
  std::shared_ptr<const ClientTlsContext> tls = route_.tls;
  Result<Connected> connected = co_await connect(loop_, route_);
  --dialing_;
  if (!connected) {
    ++failures_;
    failed_at_ = loop_.now();
    last_failure_ = std::move(connected).error();
    changed_.notify_all();
    co_return;
  }
  last_failure_.reset();
  one_each_ = !connected->http2;
  has_near_tls_ = route_.server.is_tls() && connected->round_trip && *connected->round_trip <= options_.near;
  ++made_;
  std::shared_ptr<Connection> connection = make_connection(*std::move(connected));
  if (tls != route_.tls) connection->retire();
  connections_.push_back(connection);
  changed_.notify_all();
  co_await connection->run();
  std::erase(connections_, connection);
  used_.erase(connection->id());
  connection->on_room = [] {};
  changed_.notify_all();
}

void Pool::set_tls(std::shared_ptr<const ClientTlsContext> tls) {
  route_.tls = std::move(tls);
  for (const auto& connection : connections_) connection->retire();
}

Task<void> Pool::close() {
  closed_ = true;
  scope_.cancel();
  changed_.notify_all();
  co_await scope_.join();
}

}  // namespace fairlead::http

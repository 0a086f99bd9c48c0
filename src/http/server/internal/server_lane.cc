#include "http/server/internal/server_lane.h"

#include <algorithm>

#include "http/server/internal/server_wire.h"

namespace fairlead::http {
namespace {

using boost::asio::ip::tcp;

// A handshake or a request that has not come as a whole after this time may have to make room.
constexpr Duration kStalled = std::chrono::seconds(1);
constexpr Duration kNextLook = std::chrono::milliseconds(10);

}  // namespace

void Lane::hand_over(tcp::socket socket, std::string peer_address, std::shared_ptr<TlsContext> tls) {
  ++connections_;
  loop().post([this, socket = std::move(socket), address = std::move(peer_address), tls = std::move(tls)]() mutable {
    scope_.spawn(serve(std::move(socket), std::move(address), std::move(tls)));
  });
}

Task<void> Lane::serve(tcp::socket socket, std::string peer_address, std::shared_ptr<TlsContext> tls) {
  {
    auto wire = tls ? make_tls_wire(std::move(socket), std::move(tls)) : make_plain_wire(std::move(socket));
    Session session(core_, std::move(wire), std::move(peer_address));
    co_await session.run();
  }
  --connections_;
}

Session* Lane::longest(std::optional<TimePoint> (Session::*since)() const) const {
  auto earlier = [&](const Session* one, const Session* other) {
    return (one->*since)().value_or(TimePoint::max()) < (other->*since)().value_or(TimePoint::max());
  };
  auto found = std::ranges::min_element(core_.sessions, earlier);
  return found != core_.sessions.end() && ((*found)->*since)() ? *found : nullptr;
}

Task<Result<void>> Lane::make_room() {
  auto woken = [this]() -> Task<Result<void>> { co_return co_await core_.session_changed.wait(); };
  while (is_full() && !core_.stopped) {
    TimePoint now = core_.loop.now();
    Session* stalled = longest(&Session::incomplete_since);
    Session* idle = longest(&Session::idle_since);
    if (stalled && now - *stalled->incomplete_since() >= kStalled) stalled->abort();
    else if (idle) idle->close_if_idle();
    // One that is about to stall makes room later.
    TimePoint next = stalled ? std::max(*stalled->incomplete_since() + kStalled, now + kNextLook) : TimePoint::max();
    Result<void> waited = co_await with_deadline(core_.loop, next, "time to look", woken());
    if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return waited;
  }
  co_return Result<void>();
}

Task<Result<void>> Lane::wait_for_sessions() {
  while (connections_ > 0) CO_TRY(co_await core_.session_changed.wait());
  co_return Result<void>();
}

Task<Result<size_t>> Lane::drain(TimePoint deadline) {
  core_.session_changed.notify_all();
  for (Session* session : core_.sessions) session->close_if_idle();
  Result<void> drained = co_await with_deadline(core_.loop, deadline, "the time to drain is over", wait_for_sessions());
  if (!drained && drained.error().kind() == ErrorKind::cancelled) co_return fail(std::move(drained).error());
  co_return static_cast<size_t>(
      std::ranges::count_if(core_.sessions, [](const Session* session) { return session->request_in_flight(); }));
}

Task<void> Lane::close() {
  core_.session_changed.notify_all();
  scope_.cancel();
  // Those that are still on their way to this loop begin, and end at once.
  while (connections_ > 0) (void)co_await core_.session_changed.wait_uncancelled();
  co_await scope_.join();
}

}  // namespace fairlead::http

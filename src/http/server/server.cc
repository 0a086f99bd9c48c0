#include "http/server/server.h"

#include <boost/asio/ip/tcp.hpp>

#include "async/scope.h"
#include "http/net/server_tls.h"
#include "http/server/internal/server_session.h"
#include "http/server/internal/server_wire.h"

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

// A handshake or a request that has not come as a whole after this time may have to make room.
constexpr Duration kStalled = std::chrono::seconds(1);
constexpr Duration kNextLook = std::chrono::milliseconds(10);

std::string text_of(const tcp::endpoint& endpoint) {
  std::string address = endpoint.address().to_string();
  if (endpoint.address().is_v6()) address = "[" + address + "]";
  return fmt::format("{}:{}", address, endpoint.port());
}

Result<tcp::acceptor> open_acceptor(RealLoop& loop, const ServerSpec& spec) {
  error_code error;
  asio::ip::address address = asio::ip::make_address(spec.address, error);
  if (error) return fail(ErrorKind::invalid, "cannot listen on \"{}\": it is not an IP address", spec.address);
  tcp::endpoint endpoint(address, spec.port);
  tcp::acceptor acceptor(loop.io());
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor.non_blocking(true, error);
  if (error)
    return fail(Error(ErrorKind::unavailable, "cannot listen on " + text_of(endpoint))
                    .because(error.message())
                    .next(fmt::format("ss -ltnp 'sport = :{}'", spec.port)));
  return acceptor;
}

}  // namespace

struct Server::Impl {
  Impl(RealLoop& loop, ServerSpec spec, Handler handler, tcp::acceptor with)
      : core(loop, std::move(spec), std::move(handler)),
        acceptor(std::move(with)),
        port(acceptor.local_endpoint().port()),
        scope(loop, nullptr) {}

  Task<void> run();
  Task<void> accept();
  Task<Result<void>> make_room();
  // The session for which that time is the earliest; null if no session has one.
  Session* longest(std::optional<TimePoint> (Session::*since)() const) const {
    auto earlier = [&](const Session* one, const Session* other) {
      return (one->*since)().value_or(TimePoint::max()) < (other->*since)().value_or(TimePoint::max());
    };
    auto found = std::ranges::min_element(core.sessions, earlier);
    return found != core.sessions.end() && ((*found)->*since)() ? *found : nullptr;
  }
  Task<void> serve(tcp::socket socket, std::string address);
  void stop_accepting();
  Task<Result<void>> wait_for_sessions();
  size_t requests_in_flight() const {
    return size_t(
        std::ranges::count_if(core.sessions, [](const Session* session) { return session->request_in_flight(); }));
  }

  ServerCore core;
  tcp::acceptor acceptor;
  uint16_t port;
  Scope scope;
};

Task<void> Server::Impl::run() {
  co_await accept();
  // drain() may wait for this, too.
  core.session_changed.notify_all();
}

Task<void> Server::Impl::accept() {
  while (!core.stopped) {
    error_code error = co_await await_callback<error_code>(
        [&](auto done) { acceptor.async_wait(tcp::acceptor::wait_read, std::move(done)); },
        [&] {
          error_code ignored;
          acceptor.cancel(ignored);
        });
    if (error || core.stopped) co_return;
    if (!co_await make_room() || core.stopped) co_return;
    tcp::socket socket(core.loop.io());
    tcp::endpoint peer;
    acceptor.accept(socket, peer, error);
    if (error == asio::error::would_block || error == asio::error::connection_aborted) continue;
    if (error) {
      // Out of descriptors or memory: those that are there go on, and make room when they end.
      if (!co_await sleep_for(core.loop, std::chrono::milliseconds(100))) co_return;
      continue;
    }
    socket.set_option(tcp::no_delay(true), error);
    scope.spawn(serve(std::move(socket), text_of(peer)));
  }
}

Task<Result<void>> Server::Impl::make_room() {
  auto woken = [this]() -> Task<Result<void>> { co_return co_await core.session_changed.wait(); };
  while (core.sessions.size() >= core.spec.limits.connections && !core.stopped) {
    TimePoint now = core.loop.now();
    Session* stalled = longest(&Session::incomplete_since);
    Session* idle = longest(&Session::idle_since);
    if (stalled && now - *stalled->incomplete_since() >= kStalled) stalled->abort();
    else if (idle) idle->close_if_idle();
    // One that is about to stall makes room later.
    TimePoint next = stalled ? std::max(*stalled->incomplete_since() + kStalled, now + kNextLook) : TimePoint::max();
    Result<void> waited = co_await with_deadline(core.loop, next, "time to look", woken());
    if (!waited && waited.error().kind() == ErrorKind::cancelled) co_return waited;
  }
  co_return Result<void>();
}

Task<void> Server::Impl::serve(tcp::socket socket, std::string address) {
  auto wire = core.tls ? make_tls_wire(std::move(socket), core.tls) : make_plain_wire(std::move(socket));
  Session session(core, std::move(wire), std::move(address));
  co_await session.run();
}

void Server::Impl::stop_accepting() {
  core.draining = core.stopped = true;
  error_code ignored;
  acceptor.close(ignored);
  core.session_changed.notify_all();
}

Task<Result<void>> Server::Impl::wait_for_sessions() {
  while (scope.running() > 0) CO_TRY(co_await core.session_changed.wait());
  co_return Result<void>();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(RealLoop& loop, ServerSpec spec, Handler handler) {
  std::shared_ptr<TlsContext> tls;
  if (spec.identity) {
    TRY_ASSIGN(tls, make_tls_context(*spec.identity, spec.clients, loop.clock()));
  }
  TRY_ASSIGN(tcp::acceptor acceptor, open_acceptor(loop, spec));
  auto impl = std::make_unique<Impl>(loop, std::move(spec), std::move(handler), std::move(acceptor));
  impl->core.tls = std::move(tls);
  impl->scope.spawn(impl->run());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<void> Server::check(const Identity& identity) {
  TRY(make_tls_context(identity, std::nullopt, RealClock()));
  return {};
}

uint16_t Server::port() const { return impl_->port; }
size_t Server::connections() const { return impl_->core.sessions.size(); }
size_t Server::requests_in_flight() const { return impl_->requests_in_flight(); }

Result<void> Server::set_identity(Identity identity) {
  if (!impl_->core.tls) return fail(ErrorKind::invalid, "a server without TLS has no use for a certificate");
  TRY_ASSIGN(impl_->core.tls, make_tls_context(identity, impl_->core.spec.clients, impl_->core.loop.clock()));
  return {};
}

void Server::announce_drain() { impl_->core.draining = true; }

Task<Result<void>> Server::drain(TimePoint deadline) {
  impl_->stop_accepting();
  for (Session* session : impl_->core.sessions) session->close_if_idle();
  Result<void> drained =
      co_await with_deadline(impl_->core.loop, deadline, "the time to drain is over", impl_->wait_for_sessions());
  if (drained || drained.error().kind() != ErrorKind::timeout) co_return drained;
  size_t left = requests_in_flight();
  if (left == 0) co_return Result<void>();
  co_return fail(ErrorKind::timeout, "the time to drain is over, and requests are still in flight: {}", left);
}

Task<void> Server::close() {
  impl_->stop_accepting();
  impl_->scope.cancel();
  co_await impl_->scope.join();
}

}  // namespace fairlead::http

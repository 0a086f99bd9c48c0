#include "http/server/server.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/ip/tcp.hpp>

#include "async/background_loop.h"
#include "async/scope.h"
#include "http/net/server_tls.h"
#include "http/server/internal/server_lane.h"

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

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
  Impl(RealLoop& loop, ServerSpec with, tcp::acceptor on)
      : spec(std::move(with)), acceptor(std::move(on)), port(acceptor.local_endpoint().port()), scope(loop, nullptr) {}

  void add_lane(RealLoop& loop, Handler handler, size_t lanes);
  RealLoop& loop() { return lanes.front()->loop(); }
  Task<void> accept();
  // The lane that serves the next connection: the one that has the fewest. Where all are full, they make room in turn.
  Lane& next_lane();
  void stop_accepting();
  // Runs the task of each lane on its loop, side by side.
  Task<void> on_each_lane(std::function<Task<void>(Lane&)> work);

  ServerSpec spec;
  // Null without TLS.
  std::shared_ptr<TlsContext> tls;
  tcp::acceptor acceptor;
  uint16_t port;
  // The first one is of the server's own loop.
  std::vector<std::unique_ptr<Lane>> lanes;
  size_t turn = 0;
  bool stopped = false;
  // The task that accepts.
  Scope scope;
};

void Server::Impl::add_lane(RealLoop& on, Handler handler, size_t count) {
  ServerSpec own = spec;
  own.limits.connections = std::max<size_t>(1, spec.limits.connections / count);
  own.limits.all_bodies_bytes /= count;
  if (!lanes.empty() && spec.refused)
    own.refused = [this](int status, const std::string& peer) {
      loop().post([this, status, peer] { spec.refused(status, peer); });
    };
  lanes.push_back(std::make_unique<Lane>(on, std::move(own), std::move(handler)));
}

Lane& Server::Impl::next_lane() {
  Lane& emptiest = **std::ranges::min_element(lanes, {}, [](const auto& lane) { return lane->connections(); });
  return emptiest.is_full() ? *lanes[turn++ % lanes.size()] : emptiest;
}

Task<void> Server::Impl::accept() {
  while (!stopped) {
    error_code error = co_await await_callback<error_code>(
        [&](auto done) { acceptor.async_wait(tcp::acceptor::wait_read, std::move(done)); },
        [&] {
          error_code ignored;
          acceptor.cancel(ignored);
        });
    if (error || stopped) co_return;
    Lane& lane = next_lane();
    if (lane.is_full() && !co_await result_on(loop(), lane.loop(), [&] { return lane.make_room(); })) co_return;
    if (stopped) co_return;
    tcp::socket socket(lane.loop().io());
    tcp::endpoint peer;
    acceptor.accept(socket, peer, error);
    if (error == asio::error::would_block || error == asio::error::connection_aborted) continue;
    if (error) {
      // Out of descriptors or memory: those that are there go on, and make room when they end.
      if (!co_await sleep_for(loop(), std::chrono::milliseconds(100))) co_return;
      continue;
    }
    socket.set_option(tcp::no_delay(true), error);
    // What is shown is decided here, for all loops at once.
    lane.hand_over(std::move(socket), text_of(peer), tls);
  }
}

void Server::Impl::stop_accepting() {
  stopped = true;
  for (const auto& lane : lanes) lane->stop();
  error_code ignored;
  acceptor.close(ignored);
}

Task<void> Server::Impl::on_each_lane(std::function<Task<void>(Lane&)> work) {
  Scope working(loop(), co_await current_cancel());
  for (const auto& lane : lanes) {
    auto on_its_loop = [](Impl& impl, Lane& lane, const std::function<Task<void>(Lane&)>& work) -> Task<void> {
      co_await run_on(impl.loop(), lane.loop(), [&] { return work(lane); });
    };
    working.spawn(on_its_loop(*this, *lane, work));
  }
  co_await working.join();
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(RealLoop& loop, ServerSpec spec, Handler handler,
                                               std::vector<Helper> helpers) {
  std::shared_ptr<TlsContext> tls;
  if (spec.identity) {
    TRY_ASSIGN(tls, make_tls_context(*spec.identity, spec.clients, loop.clock()));
  }
  TRY_ASSIGN(tcp::acceptor acceptor, open_acceptor(loop, spec));
  auto impl = std::make_unique<Impl>(loop, std::move(spec), std::move(acceptor));
  impl->tls = std::move(tls);
  impl->add_lane(loop, std::move(handler), helpers.size() + 1);
  for (Helper& helper : helpers) impl->add_lane(*helper.loop, std::move(helper.handler), helpers.size() + 1);
  impl->scope.spawn(impl->accept());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Result<void> Server::check(const Identity& identity) {
  TRY(make_tls_context(identity, std::nullopt, RealClock()));
  return {};
}

uint16_t Server::port() const { return impl_->port; }

size_t Server::connections() const {
  size_t sum = 0;
  for (const auto& lane : impl_->lanes) sum += lane->connections();
  return sum;
}

Result<void> Server::set_identity(Identity identity) {
  if (!impl_->tls) return fail(ErrorKind::invalid, "a server without TLS has no use for a certificate");
  TRY_ASSIGN(impl_->tls, make_tls_context(identity, impl_->spec.clients, impl_->loop().clock()));
  return {};
}

void Server::announce_drain() {
  for (const auto& lane : impl_->lanes) lane->announce_drain();
}

Task<Result<void>> Server::drain(TimePoint deadline) {
  impl_->stop_accepting();
  std::atomic<size_t> left = 0;
  std::atomic<bool> cancelled = false;
  co_await impl_->on_each_lane([&](Lane& lane) -> Task<void> {
    Result<size_t> in_flight = co_await lane.drain(deadline);
    if (in_flight) left += *in_flight;
    else cancelled = true;
  });
  if (cancelled) co_return fail(cancelled_error());
  if (left == 0) co_return Result<void>();
  co_return fail(ErrorKind::timeout, "the time to drain is over, and requests are still in flight: {}", left.load());
}

Task<void> Server::close() {
  impl_->stop_accepting();
  impl_->scope.cancel();
  co_await impl_->scope.join();
  co_await impl_->on_each_lane([](Lane& lane) { return lane.close(); });
}

}  // namespace fairlead::http

#include "http/net/tcp_stream.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio.hpp>

#include "async/real_loop.h"
#include "async/scope.h"
#include "async/signal.h"
#include "base/duration_text.h"

namespace fairlead::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// A host with more addresses than this has enough of them.
constexpr size_t kMaxAddresses = 16;

Error error_of(const error_code& code) {
  if (code == asio::error::operation_aborted || code == asio::error::bad_descriptor)
    return Error(ErrorKind::unavailable, "the connection was closed");
  if (code == asio::error::eof) return Error(ErrorKind::unavailable, "the other side closed the connection");
  std::string text = code.message();
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z') text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return Error(ErrorKind::unavailable, std::move(text));
}

struct Transferred {
  error_code code;
  size_t size = 0;
};

class TcpStream final : public Stream {
 public:
  explicit TcpStream(tcp::socket socket) : socket_(std::move(socket)) {
    error_code ignored;
    // Small requests are put together before they get here; waiting for more would only delay them.
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
    // A peer that is gone without a word is noticed within two minutes, even where the protocol has no pings.
    set_tcp_option(TCP_KEEPIDLE, 30);
    set_tcp_option(TCP_KEEPINTVL, 30);
    set_tcp_option(TCP_KEEPCNT, 3);
    set_tcp_option(TCP_USER_TIMEOUT, 120'000);
  }

  Task<Result<size_t>> read(char* into, size_t size) override {
    // What is there already would be read all the same, however often.
    CO_TRY(co_await go_on());
    Transferred done = co_await await_callback<Transferred>(
        [&](auto finish) {
          socket_.async_read_some(asio::buffer(into, size),
                                  [finish](error_code code, size_t n) mutable { finish({code, n}); });
        },
        [&] { cancel(); });
    if (done.code == asio::error::eof) co_return size_t{0};
    if (done.code) co_return fail(co_await failure(done.code));
    co_return done.size;
  }

  std::optional<size_t> try_read(char* into, size_t size) override {
    ssize_t n = ::recv(socket_.native_handle(), into, size, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return std::nullopt;
    return n < 0 ? 0 : static_cast<size_t>(n);
  }

  Task<Result<void>> write(std::string_view bytes) override {
    Transferred done = co_await await_callback<Transferred>(
        [&](auto finish) {
          asio::async_write(socket_, asio::buffer(bytes.data(), bytes.size()),
                            [finish](error_code code, size_t n) mutable { finish({code, n}); });
        },
        [&] { cancel(); });
    if (done.code) co_return fail(co_await failure(done.code));
    co_return Result<void>();
  }

  void shut() override {
    error_code ignored;
    socket_.close(ignored);
  }

  std::optional<Duration> round_trip() override {
    tcp_info about{};
    socklen_t size = sizeof about;
    int failed = ::getsockopt(socket_.native_handle(), IPPROTO_TCP, TCP_INFO, &about, &size);
    if (failed || about.tcpi_rtt == 0) return std::nullopt;
    return std::chrono::microseconds(about.tcpi_rtt);
  }

 private:
  void cancel() {
    error_code ignored;
    socket_.cancel(ignored);
  }

  void set_tcp_option(int option, int value) {
    ::setsockopt(socket_.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
  }

  static Task<Error> failure(error_code code) {
    CancelSource* source = co_await current_cancel();
    if (code == asio::error::operation_aborted && source && source->cancelled()) co_return cancelled_error();
    co_return error_of(code);
  }

  tcp::socket socket_;
};

using Addresses = std::vector<tcp::endpoint>;

// Asio asks the system in a thread of its own, which cannot be stopped: the wait can, and the late answer goes nowhere.
Task<Result<Addresses>> resolve(RealLoop& loop, const std::string& host, uint16_t port) {
  error_code not_literal;
  asio::ip::address literal = asio::ip::make_address(host, not_literal);
  if (!not_literal) co_return Addresses{tcp::endpoint(literal, port)};

  struct Asked {
    explicit Asked(asio::io_context& io) : resolver(io) {}
    tcp::resolver resolver;
    std::function<void(Result<Addresses>)> finish;
  };
  auto asked = std::make_shared<Asked>(loop.io());
  co_return co_await await_callback<Result<Addresses>>(
      [&](auto finish) {
        asked->finish = finish;
        asked->resolver.async_resolve(
            host, std::to_string(port), tcp::resolver::numeric_service,
            [asked, host](error_code code, const tcp::resolver::results_type& found) {
              auto tell = std::exchange(asked->finish, nullptr);
              if (!tell) return;
              Addresses addresses;
              for (const auto& entry : found)
                if (addresses.size() < kMaxAddresses) addresses.push_back(entry.endpoint());
              if (!addresses.empty()) return tell(std::move(addresses));
              if (code == asio::error::host_not_found || code == asio::error::no_data || !code)
                return tell(fail(ErrorKind::unavailable, "no such host {}", host));
              tell(fail(error_of(code).in(fmt::format("cannot look up the host {}", host))));
            });
      },
      [&loop, asked] {
        loop.post([asked] {
          if (auto tell = std::exchange(asked->finish, nullptr)) tell(fail(cancelled_error()));
        });
      });
}

Task<Result<std::unique_ptr<Stream>>> connect_to(RealLoop& loop, tcp::endpoint address) {
  tcp::socket socket(loop.io());
  error_code code = co_await await_callback<error_code>(
      [&](auto finish) { socket.async_connect(address, [finish](error_code done) mutable { finish(done); }); },
      [&] {
        error_code ignored;
        socket.cancel(ignored);
      });
  if (code == asio::error::operation_aborted) co_return fail(cancelled_error());
  if (code) co_return fail(error_of(code));
  co_return std::make_unique<TcpStream>(std::move(socket));
}

}  // namespace

Task<Result<std::unique_ptr<Stream>>> connect_tcp(RealLoop& loop, std::string host, uint16_t port, Duration timeout) {
  TimePoint deadline = loop.now() + timeout;
  CO_TRY_ASSIGN(Addresses addresses,
                co_await with_deadline(loop, deadline,
                                       fmt::format("no answer for the name {} within {}", host, short_text(timeout)),
                                       resolve(loop, host, port)));
  std::optional<Error> first;
  for (size_t i = 0; i < addresses.size(); ++i) {
    Duration part = (deadline - loop.now()) / static_cast<int>(addresses.size() - i);
    auto stream =
        co_await with_deadline(loop, loop.now() + part, fmt::format("no answer within {}", short_text(timeout)),
                               connect_to(loop, addresses[i]));
    if (stream) co_return stream;
    if (stream.error().kind() == ErrorKind::cancelled) co_return stream;
    if (!first) first = stream.error();
  }
  co_return fail(std::move(*first));
}

std::unique_ptr<Stream> adopt_socket(RealLoop& loop, int socket) {
  tcp::socket adopted(loop.io());
  error_code ignored;
  adopted.assign(tcp::v4(), socket, ignored);
  return std::make_unique<TcpStream>(std::move(adopted));
}

}  // namespace fairlead::http

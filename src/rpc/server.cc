#include "rpc/server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "async/readable.h"
#include "async/scope.h"
#include "http/net/server_tls.h"
#include "http/net/tcp_stream.h"
#include "http/net/tls_stream.h"
#include "rpc/internal/grpc_session.h"

namespace fairlead::rpc {
namespace {

constexpr size_t kReadPiece = size_t{64} << 10;
constexpr size_t kWritePiece = size_t{256} << 10;
constexpr Duration kHandshakeTime = std::chrono::seconds(30);
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);
// For what still has to be written when the server ends.
constexpr Duration kLastWords = std::chrono::seconds(1);

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

std::unexpected<Error> cannot_listen(const std::string& where) {
  return fail(Error(ErrorKind::unavailable, "cannot listen on " + where).because(std::strerror(errno)));
}

Result<Descriptor> listen_on_file(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path)
    return fail(Error(ErrorKind::invalid, "cannot listen on " + path)
                    .because(fmt::format("the path of a socket has at most {} bytes", sizeof address.sun_path - 1))
                    .next("set TMPDIR to a shorter path"));
  path.copy(address.sun_path, path.size());
  Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool ok = socket.number() >= 0 &&
            ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
            ::listen(socket.number(), SOMAXCONN) == 0;
  if (!ok) return cannot_listen(path);
  return socket;
}

Result<Descriptor> listen_on_port(uint16_t port) {
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  bool ok = socket.number() >= 0 &&
            ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
            ::listen(socket.number(), SOMAXCONN) == 0;
  if (!ok) return cannot_listen(fmt::format("127.0.0.1:{}", port));
  return socket;
}

// One client, until it goes away.
class ServerConnection {
 public:
  ServerConnection(Loop& loop, const Services& services, std::unique_ptr<http::Stream> stream)
      : loop_(loop),
        services_(services),
        stream_(std::move(stream)),
        session_({}, {.is_known = [this](std::string_view path) { return services_.find(path) != nullptr; },
                      .arrived = [this](int32_t call, std::string path,
                                        std::string message) { start(call, path, std::move(message)); },
                      .cancelled = [this](int32_t call) { give_up(call); }}),
        output_waits_(loop) {}

  Task<void> run() {
    Scope scope(loop_, co_await current_cancel());
    scope_ = &scope;
    scope.spawn(write());
    co_await read();
    end();
    scope.cancel();
    co_await scope.join();
  }

  // Cancels the calls, and ends the connection once their answers are written.
  void finish() {
    finishing_ = true;
    for (auto& [call, cancel] : running_) cancel->cancel();
    output_waits_.notify_one();
  }

 private:
  Task<void> read() {
    std::string buffer(kReadPiece, '\0');
    while (!over_) {
      Result<size_t> n = co_await stream_->read(buffer.data(), buffer.size());
      if (!n || *n == 0 || !session_.feed({buffer.data(), *n})) co_return;
      output_waits_.notify_one();
    }
  }

  Task<void> write() {
    std::string output;
    while (!over_) {
      output.clear();
      session_.take_output(output, kWritePiece);
      if (output.empty() && finishing_ && running_.empty()) break;
      bool stays =
          output.empty() ? (co_await output_waits_.wait()).has_value() : (co_await stream_->write(output)).has_value();
      if (!stays) break;
    }
    end();
  }

  void end() {
    over_ = true;
    stream_->shut();
    output_waits_.notify_one();
  }

  void start(int32_t call, const std::string& path, std::string message) {
    auto cancel = std::make_unique<CancelSource>();
    CancelSource* source = cancel.get();
    running_.insert_or_assign(call, std::move(cancel));
    scope_->spawn(serve(call, *services_.find(path), std::move(message), source));
  }

  void give_up(int32_t call) {
    auto found = running_.find(call);
    if (found != running_.end()) found->second->cancel();
  }

  Task<void> serve(int32_t call, const Handler& handler, std::string message, CancelSource* source) {
    // The connection's own end cancels the call, too.
    CancelHook ended;
    CancelSource* outer = co_await current_cancel();
    if (outer->cancelled()) source->cancel();
    else ended.set(outer, [source] { source->cancel(); });
    Answer answer = co_await handler(std::move(message)).governed_by(source);
    ended.clear();
    running_.erase(call);
    session_.answer(call, std::move(answer));
    output_waits_.notify_one();
  }

  Loop& loop_;
  const Services& services_;
  std::unique_ptr<http::Stream> stream_;
  GrpcSession session_;
  Signal output_waits_;
  Scope* scope_ = nullptr;
  std::map<int32_t, std::unique_ptr<CancelSource>> running_;
  bool finishing_ = false;
  bool over_ = false;
};

}  // namespace

struct Server::Impl {
  Impl(RealLoop& on, const Services& what, Descriptor where)
      : loop(on), services(what), listener(std::move(where)), accepting(on, nullptr), scope(on, nullptr) {}

  Task<void> accept();
  Task<void> serve(std::unique_ptr<http::Stream> stream);

  RealLoop& loop;
  const Services& services;
  Descriptor listener;
  std::shared_ptr<http::TlsContext> tls;
  std::set<ServerConnection*> connections;
  Scope accepting;
  Scope scope;
};

Task<void> Server::Impl::accept() {
  while (co_await await_readable(loop, listener.number())) {
    int socket = ::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      scope.spawn(serve(http::adopt_socket(loop, socket)));
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      // Out of descriptors: those that are there go on, and make room when they end.
      if (!co_await sleep_for(loop, kAcceptPause)) co_return;
    }
  }
}

Task<void> Server::Impl::serve(std::unique_ptr<http::Stream> stream) {
  if (tls) {
    Result<http::TlsSession> session = http::server_session(tls);
    if (!session) co_return;
    auto secure = std::make_unique<http::TlsStream>(std::move(stream), *std::move(session));
    if (!co_await with_deadline(loop, loop.now() + kHandshakeTime, "the client says nothing", secure->handshake()))
      co_return;
    stream = std::move(secure);
  }
  ServerConnection connection(loop, services, std::move(stream));
  connections.insert(&connection);
  co_await connection.run();
  connections.erase(&connection);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(RealLoop& loop, ServerSpec spec, const Services& services) {
  std::shared_ptr<http::TlsContext> tls;
  if (spec.identity) {
    TRY_ASSIGN(tls, http::make_tls_context(*spec.identity, std::move(spec.clients), loop.clock(), "h2"));
  }
  TRY_ASSIGN(Descriptor listener, spec.unix_path.empty() ? listen_on_port(spec.port) : listen_on_file(spec.unix_path));
  auto impl = std::make_unique<Impl>(loop, services, std::move(listener));
  impl->tls = std::move(tls);
  impl->accepting.spawn(impl->accept());
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(impl_->listener.number(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

Task<void> Server::close() {
  impl_->accepting.cancel();
  co_await impl_->accepting.join();
  for (ServerConnection* connection : impl_->connections) connection->finish();
  Loop::TimerId late = impl_->loop.call_after(kLastWords, [this] { impl_->scope.cancel(); });
  co_await impl_->scope.join();
  impl_->loop.cancel_timer(late);
}

}  // namespace fairlead::rpc

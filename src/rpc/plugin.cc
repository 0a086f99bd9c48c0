#include "rpc/plugin.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "async/scope.h"
#include "async/signals.h"
#include "base/base64.h"
#include "protobuf/wire.h"
#include "rpc/server.h"

namespace fairlead::rpc {
namespace {

// How often to look whether the program that started us is still there.
constexpr Duration kParentPause = std::chrono::seconds(2);
constexpr Duration kCertificateValidity = std::chrono::hours(24 * 365);

std::string variable(const std::string& name) {
  const char* value = ::getenv(name.c_str());
  return value ? value : "";
}

// A folder of our own with the socket in it, removed at the end.
class SocketFolder {
 public:
  static Result<SocketFolder> make(const std::string& name) {
    std::string parent = variable("PLUGIN_UNIX_SOCKET_DIR");
    if (parent.empty()) parent = variable("TMPDIR");
    if (parent.empty()) parent = "/tmp";
    std::string path = fmt::format("{}/{}-XXXXXX", parent, name);
    if (!::mkdtemp(path.data()))
      return fail(Error(ErrorKind::unavailable, fmt::format("cannot make a folder for the socket in {}", parent))
                      .because(std::strerror(errno))
                      .next("set TMPDIR to a folder that can be written to"));
    return SocketFolder(std::move(path));
  }
  SocketFolder(SocketFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  SocketFolder& operator=(SocketFolder&&) = delete;
  ~SocketFolder() {
    if (path_.empty()) return;
    ::unlink(socket().c_str());
    ::rmdir(path_.c_str());
  }

  std::string socket() const { return path_ + "/socket"; }

 private:
  explicit SocketFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

Answer no_fields() { return std::string(); }

void add_plugin_services(Services& services, const std::function<void()>& on_shutdown) {
  services.add("/grpc.health.v1.Health/Check", [](std::string) -> Task<Answer> {
    protobuf::WireWriter response;
    constexpr uint64_t kServing = 1;
    response.number(1, kServing);
    co_return response.take();
  });
  services.add("/plugin.GRPCController/Shutdown", [on_shutdown](std::string) -> Task<Answer> {
    on_shutdown();
    co_return no_fields();
  });
}

// TLS in which each side knows the other's certificate. None if the client gave no certificate of its own.
Result<std::optional<x509::KeyPair>> add_tls(ServerSpec& spec, WallTime now) {
  std::string client = variable("PLUGIN_CLIENT_CERT");
  if (client.empty()) return std::nullopt;
  Result<std::vector<x509::Certificate>> trusted = x509::Certificate::parse_pem(client);
  if (!trusted) return fail(std::move(trusted).error().in("PLUGIN_CLIENT_CERT is no certificate"));
  TRY_ASSIGN(x509::KeyPair authority, x509::make_ca("fairlead plugin", kCertificateValidity, now));
  // Clients ask for this name, whatever the socket.
  TRY_ASSIGN(x509::KeyPair own, x509::make_leaf(authority,
                                                {.common_name = "localhost",
                                                 .dns_names = {"localhost"},
                                                 .usages = {x509::Usage::server, x509::Usage::client},
                                                 .validity = kCertificateValidity},
                                                now));
  spec.identity = http::Identity{.chain = {own.certificate}, .key = own.key};
  spec.clients = http::ClientTrust{.roots = *std::move(trusted)};
  return std::optional(std::move(own));
}

Result<void> check_protocol(int wanted) {
  std::string offered = variable("PLUGIN_PROTOCOL_VERSIONS");
  if (offered.empty()) return {};
  std::string rest = offered + ",";
  for (size_t comma = rest.find(','); comma != std::string::npos; comma = rest.find(',')) {
    if (rest.substr(0, comma) == std::to_string(wanted)) return {};
    rest.erase(0, comma + 1);
  }
  return fail(
      Error(ErrorKind::protocol,
            fmt::format("the program that started this plugin does not speak version {} of the protocol", wanted))
          .because(fmt::format("it speaks {}", offered))
          .next("use terraform 1.0 or newer, or tofu"));
}

class Ending {
 public:
  explicit Ending(Loop& loop) : changed_(loop) {}
  void happen() {
    happened_ = true;
    changed_.notify_all();
  }
  Task<void> wait() {
    while (!happened_)
      if (!co_await changed_.wait()) co_return;
  }

 private:
  Signal changed_;
  bool happened_ = false;
};

Task<void> watch_signals(Signals& signals, bool ends_with_interrupt, Ending& ending) {
  while (true) {
    Result<Signals::Received> received = co_await signals.next();
    if (!received) co_return;
    bool is_interrupt = received->number == SIGINT || received->number == SIGQUIT || received->number == SIGHUP;
    if (received->number == SIGTERM || (is_interrupt && ends_with_interrupt)) ending.happen();
  }
}

// A client that was killed says nothing.
Task<void> watch_parent(Loop& loop, pid_t parent, Ending& ending) {
  while (co_await sleep_for(loop, kParentPause))
    if (::getppid() != parent) ending.happen();
}

}  // namespace

bool is_started_as_plugin(const PluginSpec& spec) { return variable(spec.cookie_name) == spec.cookie_value; }

std::string handshake_line(int protocol, const std::string& socket, std::string_view certificate_der) {
  std::string certificate = to_base64(certificate_der);
  certificate.erase(certificate.find_last_not_of('=') + 1);
  constexpr int kCoreProtocol = 1;
  return fmt::format("{}|{}|unix|{}|grpc|{}", kCoreProtocol, protocol, socket, certificate);
}

Task<Result<void>> run_plugin(RealLoop& loop, PluginSpec spec, Services services) {
  bool is_debug = spec.on_debug != nullptr;
  pid_t parent = ::getppid();
  if (!is_debug) CO_TRY(check_protocol(spec.protocol));
  Ending ending(loop);
  add_plugin_services(services, [&ending, is_debug] {
    if (!is_debug) ending.happen();
  });
  CO_TRY_ASSIGN(SocketFolder folder, SocketFolder::make(spec.name));
  ServerSpec server_spec{.unix_path = folder.socket(), .identity = {}, .clients = {}};
  std::optional<x509::KeyPair> own;
  if (!is_debug) {
    CO_TRY_ASSIGN(own, add_tls(server_spec, loop.clock().wall_now()));
  }
  CO_TRY_ASSIGN(std::unique_ptr<Server> server, Server::listen(loop, std::move(server_spec), services));
  // Before anybody can know that this process is there.
  Signals signals(loop);
  Scope scope(loop, co_await current_cancel());
  scope.spawn(watch_signals(signals, is_debug, ending));
  if (is_debug) {
    spec.on_debug(folder.socket());
  } else {
    scope.spawn(watch_parent(loop, parent, ending));
    std::string line = handshake_line(spec.protocol, folder.socket(), own ? own->certificate.to_der() : "") + "\n";
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  }
  co_await ending.wait();
  co_await server->close();
  scope.cancel();
  co_await scope.join();
  co_return Result<void>();
}

Task<Result<void>> run_on_port(RealLoop& loop, PortSpec spec, Services services) {
  pid_t parent = ::getppid();
  Ending ending(loop);
  CO_TRY_ASSIGN(std::unique_ptr<Server> server,
                Server::listen(loop, {.unix_path = {}, .identity = {}, .clients = {}}, services));
  Signals signals(loop);
  Scope scope(loop, co_await current_cancel());
  scope.spawn(watch_signals(signals, true, ending));
  if (spec.ends_with_parent) scope.spawn(watch_parent(loop, parent, ending));
  spec.on_port(server->port());
  co_await ending.wait();
  co_await server->close();
  scope.cancel();
  co_await scope.join();
  co_return Result<void>();
}

}  // namespace fairlead::rpc

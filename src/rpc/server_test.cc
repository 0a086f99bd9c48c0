// The server on a real socket: TLS, calls side by side, and its end.
#include "rpc/server.h"

#include <gtest/gtest.h>

#include "async/scope.h"
#include "http/client/client.h"
#include "http/net/tcp_stream.h"
#include "rpc/grpc_peer_testing.h"

namespace fairlead::rpc {
namespace {

using namespace std::chrono_literals;

x509::KeyPair authority() { return x509::make_ca("test authority", 24h, RealClock().wall_now()).value(); }

x509::KeyPair leaf(const x509::KeyPair& ca, x509::Usage usage) {
  return x509::make_leaf(ca, {.common_name = "localhost", .dns_names = {"localhost"}, .usages = {usage}},
                         RealClock().wall_now())
      .value();
}

// A server with these services, and a client with a certificate that it trusts.
struct Served {
  explicit Served(const Services& services, bool shows_certificate = true)
      : server_ca(authority()), client_ca(authority()) {
    x509::KeyPair own = leaf(server_ca, x509::Usage::server), theirs = leaf(client_ca, x509::Usage::client);
    ServerSpec spec{.identity = http::Identity{.chain = {own.certificate}, .key = own.key},
                    .clients = http::ClientTrust{.roots = {client_ca.certificate}}};
    server = Server::listen(loop, std::move(spec), services).value();
    http::ClientOptions options{.tls = {.ca_pem = server_ca.certificate.to_pem(), .server_name = "localhost"},
                                .proxy = {},
                                .proxy_settings = {}};
    if (shows_certificate) {
      options.tls.certificate_pem = theirs.certificate.to_pem();
      options.tls.key_pem = theirs.key.to_pem();
    }
    std::string url = fmt::format("https://127.0.0.1:{}", server->port());
    client = http::Client::make(loop, http::parse_url(url).value(), std::move(options)).value();
  }

  Task<Result<http::Response>> call(std::string path, std::string message) {
    http::Request request{.method = "POST",
                          .target = std::move(path),
                          .headers = {{"content-type", "application/grpc"}},
                          .body = framed(message)};
    return with_deadline(loop, loop.now() + 60s, "the test hangs", http::send(*client, std::move(request)));
  }

  Task<void> end() {
    co_await client->close();
    co_await server->close();
  }

  RealLoop loop;
  x509::KeyPair server_ca;
  x509::KeyPair client_ca;
  std::unique_ptr<Server> server;
  std::unique_ptr<http::Client> client;
};

Services echo() {
  Services services;
  services.add("/s/Echo", [](std::string message) -> Task<Answer> { co_return message; });
  return services;
}

TEST(RpcServer, AnswersCallsOverTls) {
  Services services = echo();
  Served served(services);
  Result<http::Response> first, unknown;
  auto story = [&]() -> Task<void> {
    first = co_await served.call("/s/Echo", "hello");
    unknown = co_await served.call("/s/None", "hello");
    co_await served.end();
  };
  served.loop.run(story());
  ASSERT_TRUE(first) << first.error().report();
  EXPECT_EQ(first->body, framed("hello"));
  ASSERT_TRUE(unknown) << unknown.error().report();
  EXPECT_EQ(unknown->headers.find("grpc-status"), "12");
}

TEST(RpcServer, AClientWithoutACertificateIsTurnedAway) {
  Services services = echo();
  Served served(services, false);
  Result<http::Response> answer;
  auto story = [&]() -> Task<void> {
    answer = co_await served.call("/s/Echo", "hello");
    co_await served.end();
  };
  served.loop.run(story());
  EXPECT_FALSE(answer);
}

TEST(RpcServer, CallsRunSideBySide) {
  Services services;
  RealLoop* loop = nullptr;
  int waiting = 0;
  std::optional<Signal> all_there;
  services.add("/s/Meet", [&](std::string message) -> Task<Answer> {
    if (++waiting == 3) all_there->notify_all();
    while (waiting < 3)
      if (!co_await all_there->wait()) co_return std::unexpected(Status{Code::cancelled, "cancelled"});
    co_return message;
  });
  Served served(services);
  loop = &served.loop;
  all_there.emplace(*loop);
  std::vector<std::string> bodies;
  auto one = [&]() -> Task<void> {
    Result<http::Response> answer = co_await served.call("/s/Meet", "x");
    bodies.push_back(answer ? answer->body : answer.error().report());
  };
  auto story = [&]() -> Task<void> {
    Scope scope(*loop, nullptr);
    for (int i = 0; i < 3; ++i) scope.spawn(one());
    co_await scope.join();
    co_await served.end();
  };
  served.loop.run(story());
  EXPECT_EQ(bodies, std::vector<std::string>(3, framed("x")));
}

TEST(RpcServer, ACallThatTheClientGivesUpIsCancelled) {
  Services services;
  std::optional<Signal> changed;
  bool started = false, cancelled = false;
  services.add("/s/Wait", [&](std::string) -> Task<Answer> {
    started = true;
    changed->notify_all();
    while (co_await changed->wait()) {
    }
    cancelled = true;
    changed->notify_all();
    co_return std::string();
  });
  Served served(services);
  changed.emplace(served.loop);
  auto story = [&]() -> Task<void> {
    Scope scope(served.loop, nullptr);
    auto call = [&]() -> Task<void> { (void)co_await served.call("/s/Wait", ""); };
    scope.spawn(call());
    while (!started) (void)co_await changed->wait();
    scope.cancel();
    while (!cancelled) (void)co_await changed->wait();
    co_await scope.join();
    co_await served.end();
  };
  served.loop.run(story());
  EXPECT_TRUE(cancelled);
}

TEST(RpcServer, CallsAreCancelledWhenTheirConnectionBreaks) {
  Services services;
  RealLoop loop;
  Signal changed(loop);
  bool started = false, cancelled = false;
  services.add("/s/Wait", [&](std::string) -> Task<Answer> {
    started = true;
    changed.notify_all();
    while (co_await changed.wait()) {
    }
    cancelled = true;
    changed.notify_all();
    co_return std::string();
  });
  std::unique_ptr<Server> server = Server::listen(loop, {.identity = {}, .clients = {}}, services).value();
  auto until_cancelled = [&]() -> Task<Result<void>> {
    while (!cancelled) CO_TRY(co_await changed.wait());
    co_return Result<void>();
  };
  auto story = [&]() -> Task<void> {
    std::unique_ptr<http::Stream> stream = (co_await http::connect_tcp(loop, "127.0.0.1", server->port(), 60s)).value();
    GrpcPeer peer;
    peer.call("/s/Wait", framed(""));
    EXPECT_TRUE(co_await stream->write(peer.take_output()));
    while (!started) (void)co_await changed.wait();
    stream.reset();
    EXPECT_TRUE(co_await with_deadline(loop, loop.now() + 60s, "the call goes on", until_cancelled()));
    co_await server->close();
  };
  loop.run(story());
}

TEST(RpcServer, ClosingCancelsCallsAndSendsTheirAnswers) {
  Services services;
  std::optional<Signal> changed;
  bool started = false;
  services.add("/s/Wait", [&](std::string) -> Task<Answer> {
    started = true;
    changed->notify_all();
    while (co_await changed->wait()) {
    }
    co_return "half done";
  });
  Served served(services);
  changed.emplace(served.loop);
  Result<http::Response> answer;
  auto story = [&]() -> Task<void> {
    Scope scope(served.loop, nullptr);
    auto call = [&]() -> Task<void> { answer = co_await served.call("/s/Wait", ""); };
    scope.spawn(call());
    while (!started) (void)co_await changed->wait();
    co_await served.server->close();
    co_await scope.join();
    co_await served.client->close();
  };
  served.loop.run(story());
  ASSERT_TRUE(answer) << answer.error().report();
  EXPECT_EQ(answer->body, framed("half done"));
}

TEST(RpcServer, SaysWhyItCannotListen) {
  RealLoop loop;
  Services services = echo();
  std::string path = "/tmp/" + std::string(150, 'x');
  Result<std::unique_ptr<Server>> server =
      Server::listen(loop, {.unix_path = path, .identity = {}, .clients = {}}, services);
  ASSERT_FALSE(server);
  EXPECT_EQ(server.error().report(),
            "error: cannot listen on " + path +
                "\n  because   the path of a socket has at most 107 bytes\n  next      set TMPDIR "
                "to a shorter path\n");
}

}  // namespace
}  // namespace fairlead::rpc

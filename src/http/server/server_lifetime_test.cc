#include "http/server/server.h"
#include "http/server/server_testing.h"

namespace fairlead::http {
namespace {

TEST_F(ServerTest, IdleConnectionsAreClosed) {
  serve({.limits = {.idle = 20ms, .linger = 20ms}});
  TestClient idle(port());
  EXPECT_EQ(idle.read_to_end(), "");
  until_connections(0);
}

TEST_F(ServerTest, APeerThatDoesNotReadIsDropped) {
  serve({.limits = {.write = 20ms}});
  TestClient client(port());
  for (int i = 0; i < 100; ++i) client.send(get("/big"));
  until_connections(0);
}

TEST_F(ServerTest, APeerThatVanishesCancelsTheBody) {
  serve_tls();
  TestClient client(port(), trusting());
  client.send(get("/stream?one,,two"));
  client.read_until("one\r\n");
  client.vanish();
  EXPECT_TRUE(was_cancelled());
  until_connections(0);
}

TEST_F(ServerTest, APeerThatVanishesCancelsTheHandler) {
  serve();
  TestClient client(port());
  client.send(get("/wait"));
  until_waiting();
  client.vanish();
  EXPECT_TRUE(was_cancelled());
  until_connections(0);
}

TEST_F(ServerTest, AnnouncedDrainClosesAfterAnswersAndStillAccepts) {
  serve_tls();
  TestClient client(port(), trusting());
  client.exchange(get("/none"));
  thread_.ask<bool>([&] { return server_->announce_drain(), true; });
  for (int i = 0; i < 2; ++i) {
    TestClient fresh(port(), trusting());
    EXPECT_EQ(fresh.exchange(get("/none")), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(fresh.read_to_end(), "");
  }
  EXPECT_EQ(client.exchange(get("/none")), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST_F(ServerTest, DrainWaitsForRequestsInFlight) {
  serve_tls();
  TestClient idle(port(), trusting()), busy(port(), trusting());
  EXPECT_EQ(idle.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  busy.send(get("/wait"));
  until_waiting();

  std::string too_early;
  thread_.run([&]() -> Task<void> { too_early = (co_await server_->drain(thread_.loop.now())).error().message(); });
  EXPECT_EQ(too_early, "the time to drain is over, and requests are still in flight: 1");
  EXPECT_EQ(idle.read_to_end(), "");
  idle.vanish();
  EXPECT_FALSE(TestClient(port()).connected());

  bool drained = false;
  std::future<void> done =
      thread_.start([&]() -> Task<void> { drained = (co_await server_->drain(thread_.loop.now() + 30s)).has_value(); });
  thread_.ask<bool>([&] { return go_on_.notify_all(), true; });
  EXPECT_EQ(busy.read_answer(), "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\nwaited");
  busy.vanish();
  done.get();
  EXPECT_TRUE(drained);
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ServerTest, CloseEndsWhatIsInFlight) {
  serve();
  TestClient client(port()), other(port());
  client.send(get("/wait"));
  until_waiting();
  thread_.run([&]() -> Task<void> { co_await server_->close(); });
  EXPECT_TRUE(was_cancelled());
  EXPECT_EQ(client.read_to_end(), "");
}

TEST_F(ServerTest, ServesManyConnectionsSideBySide) {
  serve_tls();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<TestClient>(port(), trusting()));
  for (auto& client : clients) client->send(get("/wait"));
  until_waiting(clients.size());
  EXPECT_EQ(thread_.ask<size_t>([&] { return server_->connections(); }), clients.size());
  go_on();
  for (auto& client : clients) EXPECT_TRUE(client->read_answer().ends_with("waited"));
}

TEST_F(ServerTest, TheLongestIdleConnectionMakesRoom) {
  serve({.limits = {.connections = 2, .linger = 20ms}});
  TestClient busy(port()), idle(port());
  busy.send(get("/wait"));
  until_waiting();
  EXPECT_EQ(idle.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  TestClient third(port());
  third.send(get("/none"));
  EXPECT_EQ(idle.read_to_end(), "");
  idle.vanish();
  EXPECT_EQ(third.read_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
  third.send(get("/wait"));
  until_waiting(2);
  // Nobody is idle: the next one waits until somebody is.
  TestClient fourth(port());
  fourth.send(get("/none"));
  go_on();
  EXPECT_EQ(fourth.read_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(ServerTest, RequestsAndHandshakesThatStallMakeRoom) {
  serve_tls({.limits = {.connections = 3}});
  TestClient half_a_head(port(), trusting()), half_a_body(port(), trusting()), no_handshake(port());
  half_a_head.send("GET /none HTTP/1.1\r\nHost");
  half_a_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx");
  until_connections(3);
  TestClient first(port(), trusting()), second(port(), trusting());
  EXPECT_EQ(first.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(second.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  // The oldest goes first.
  EXPECT_EQ(half_a_head.read_to_end(), "");
}

TEST(Server, SaysWhyItCannotListen) {
  RealLoop loop;
  auto error = [&](ServerSpec spec) {
    return Server::listen(loop, std::move(spec), [](Request, const Peer&) -> Task<Answer> { co_return Answer{}; })
        .error()
        .report();
  };
  EXPECT_EQ(error({.address = "localhost"}), "error: cannot listen on \"localhost\": it is not an IP address\n");
  x509::KeyPair ca = make_ca();
  EXPECT_EQ(error({.identity = Identity{{}, ca.key}}), "error: a server with TLS needs a certificate\n");
  EXPECT_EQ(error({.identity = Identity{{ca.certificate}, x509::Key::generate().value()}}),
            "error: the server's private key does not belong to its certificate\n");
  LoopThread thread;
  std::unique_ptr<Server> first;
  auto handler = [](Request, const Peer&) -> Task<Answer> { co_return Answer{}; };
  thread.run([&]() -> Task<void> {
    first = Server::listen(thread.loop, {}, handler).value();
    co_return;
  });
  EXPECT_EQ(error({.port = first->port()}),
            fmt::format("error: cannot listen on 127.0.0.1:{}\n  because   Address already in use\n"
                        "  next      ss -ltnp 'sport = :{}'\n",
                        first->port(), first->port()));
  thread.run([&]() -> Task<void> { co_await first->close(); });
  first.reset();
}

}  // namespace
}  // namespace fairlead::http

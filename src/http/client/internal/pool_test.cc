#include "http/client/internal/pool.h"

#include "http/client/client_testing.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

// Ten watches want a connection each from a server with HTTP/1.1. Returns how many are made at a time.
size_t dials_for_ten_watches(Duration near) {
  RealLoop loop;
  TestServer server(loop, TestServer::Tls{.alpn = "http/1.1"}, [](std::unique_ptr<Stream> stream) -> Task<void> {
    char byte;
    (void)co_await stream->read(&byte, 1);
  });
  Route route{.server = parse_url(server.url()).value(),
              .proxy = {},
              .tls = ClientTlsContext::make({.ca_pem = server.ca_pem()}, {"h2", "http/1.1"}).value(),
              .proxy_tls = {},
              .server_name = "127.0.0.1",
              .connect_timeout = 60s,
              .handshake_timeout = 60s};
  Pool pool(loop, std::move(route),
            {.ping_times = {}, .max_connections = 8, .max_http1_connections = 128, .near = near});
  size_t at_a_time = 0;
  std::set<uint64_t> found;
  auto find = [&](bool long_lived) -> Task<void> {
    auto connection = co_await in_time(loop, pool.find(0, long_lived));
    EXPECT_TRUE(connection) << error_text(connection);
    at_a_time = std::max(at_a_time, pool.dialing());
    if (connection) found.insert((*connection)->id());
  };
  auto story = [&]() -> Task<void> {
    co_await find(false);
    Scope scope(loop, nullptr);
    for (int i = 0; i < 10; ++i) scope.spawn(find(true));
    // Once all of them are waiting.
    Signal waiting(loop);
    loop.post([&] { waiting.notify_all(); });
    (void)co_await waiting.wait();
    at_a_time = std::max(at_a_time, pool.dialing());
    co_await scope.join();
    co_await pool.close();
    co_await server.close();
  };
  loop.run(story());
  EXPECT_EQ(found.size(), 11);
  return at_a_time;
}

TEST(Pool, MakesAllThatAreWaitedForAtOnceWithAFarServer) { EXPECT_EQ(dials_for_ten_watches(-1s), 10); }

TEST(Pool, MakesFewConnectionsAtATimeWithANearServer) { EXPECT_EQ(dials_for_ten_watches(24h), 2); }

}  // namespace
}  // namespace fairlead::http

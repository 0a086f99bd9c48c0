// Ways to a server, and what is said when there is none: refusals, names, silence, proxies.
#include "http/net/connect.h"

#include "http/client/client_testing.h"
#include "http/net/tcp_stream.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

void answer_ok(H2Peer& peer, const PeerRequest& request) { peer.answer(request.stream, 200, "hello"); }

TEST(Connect, SaysThatAConnectionWasRefused) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  server.server().stop_listening();
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Response> result = co_await get(loop, client);
    EXPECT_EQ(error_text(result),
              fmt::format("cannot connect to 127.0.0.1:{}: connection refused", server.server().port()));
    EXPECT_EQ(error_kind(result), ErrorKind::unavailable);
    EXPECT_EQ(delivery_of(result.error()), Delivery::never);
  });
}

TEST(Connect, SaysThatThereIsNoSuchHost) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  tell(
      loop, server.server(), {},
      [&](Client& client) -> Task<void> {
        std::string text = error_text(co_await get(loop, client));
        // Without any network the system cannot even ask.
        EXPECT_TRUE(
            text == "cannot connect to nowhere.invalid:443: no such host nowhere.invalid" ||
            text.starts_with("cannot connect to nowhere.invalid:443: cannot look up the host nowhere.invalid: "))
            << text;
      },
      "https://nowhere.invalid");
}

TEST(Connect, FindsAHostByItsName) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  tell(
      loop, server.server(), {},
      [&](Client& client) -> Task<void> { EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello"); },
      fmt::format("https://localhost:{}", server.server().port()));
}

Task<void> read_until_end(Stream& stream) {
  char buffer[4096];
  while (true) {
    auto n = co_await stream.read(buffer, sizeof buffer);
    if (!n || *n == 0) co_return;
  }
}

TEST(Connect, SaysThatAServerDoesNotSpeakTls) {
  RealLoop loop;
  TestServer server(loop, std::nullopt, [](std::unique_ptr<Stream> stream) -> Task<void> {
    (void)co_await stream->write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    co_await read_until_end(*stream);
  });
  tell(
      loop, server, {},
      [&](Client& client) -> Task<void> {
        EXPECT_EQ(error_text(co_await get(loop, client)),
                  fmt::format("cannot set up TLS with 127.0.0.1:{}: it does not speak TLS", server.port()));
      },
      fmt::format("https://127.0.0.1:{}", server.port()));
}

TEST(Connect, DoesNotWaitForAHandshakeForever) {
  RealLoop loop;
  TestServer server(loop, std::nullopt,
                    [](std::unique_ptr<Stream> stream) -> Task<void> { co_await read_until_end(*stream); });
  tell(
      loop, server, {.handshake_timeout = 5ms},
      [&](Client& client) -> Task<void> {
        Result<Response> result = co_await get(loop, client);
        EXPECT_EQ(error_text(result),
                  fmt::format("cannot set up TLS with 127.0.0.1:{}: no answer to the TLS handshake", server.port()));
        EXPECT_EQ(error_kind(result), ErrorKind::timeout);
      },
      fmt::format("https://127.0.0.1:{}", server.port()));
}

TEST(Connect, SaysThatTheServerHungUpDuringTheHandshake) {
  RealLoop loop;
  TestServer server(loop, std::nullopt, [](std::unique_ptr<Stream> stream) -> Task<void> {
    char byte;
    (void)co_await stream->read(&byte, 1);
    // Reads everything, so that the end is an end and no reset.
    while (stream->try_read(&byte, 1).value_or(0) > 0) continue;
  });
  tell(
      loop, server, {},
      [&](Client& client) -> Task<void> {
        EXPECT_EQ(error_text(co_await get(loop, client)),
                  fmt::format("cannot set up TLS with 127.0.0.1:{}: the connection was closed during the TLS handshake",
                              server.port()));
      },
      fmt::format("https://127.0.0.1:{}", server.port()));
}

// Reads up to and with the end.
Task<std::string> read_until(Stream& stream, std::string_view end) {
  std::string text;
  char byte;
  while (!text.ends_with(end)) {
    auto n = co_await stream.read(&byte, 1);
    if (!n || *n == 0) break;
    text += byte;
  }
  co_return text;
}

Task<void> pipe(Stream& from, Stream& to) {
  std::string buffer(65536, '\0');
  while (true) {
    auto n = co_await from.read(buffer.data(), buffer.size());
    if (!n || *n == 0 || !co_await to.write(std::string_view(buffer.data(), *n))) break;
  }
  from.shut();
  to.shut();
}

Task<void> join_up(RealLoop& loop, Stream& client, uint16_t port) {
  auto server = co_await connect_tcp(loop, "127.0.0.1", port, 10s);
  EXPECT_TRUE(server);
  if (!server) co_return;
  Scope scope(loop, co_await current_cancel());
  scope.spawn(pipe(client, **server));
  co_await pipe(**server, client);
  co_await scope.join();
}

// A CONNECT proxy that joins everything up with one port and keeps what it was asked.
TestServer::Serve connect_proxy(RealLoop& loop, uint16_t to, std::vector<std::string>& asked, std::string answer) {
  return [&loop, to, &asked, answer](std::unique_ptr<Stream> stream) -> Task<void> {
    asked.push_back(co_await read_until(*stream, "\r\n\r\n"));
    (void)co_await stream->write(answer);
    if (answer.contains(" 200 ")) co_await join_up(loop, *stream, to);
  };
}

ClientOptions through(const TestServer& proxy, const std::string& userinfo = "") {
  std::string url = proxy.url();
  url.insert(url.find("://") + 3, userinfo);
  return {.proxy = parse_url(url).value()};
}

TEST(Proxy, IsAskedForATunnel) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  std::vector<std::string> asked;
  TestServer proxy(loop, std::nullopt,
                   connect_proxy(loop, server.server().port(), asked, "HTTP/1.1 200 OK\r\nX-Proxy: yes\r\n\r\n"));
  tell(loop, server.server(), through(proxy, "me:s%20cret@"), [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    co_await client.close();
    co_await proxy.close();
  });
  std::string address = fmt::format("127.0.0.1:{}", server.server().port());
  EXPECT_EQ(asked,
            (std::vector{fmt::format(
                "CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nProxy-Authorization: Basic bWU6cyBjcmV0\r\n\r\n", address)}));
}

TEST(Proxy, MayBeReachedOverTls) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  std::vector<std::string> asked;
  TestServer proxy(loop, TestServer::Tls{.alpn = "http/1.1"},
                   connect_proxy(loop, server.server().port(), asked, "HTTP/1.1 200 OK\r\n\r\n"));
  ClientOptions options = through(proxy);
  options.tls.ca_pem = server.server().ca_pem() + proxy.ca_pem();
  tell(loop, server.server(), options, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
    co_await client.close();
    co_await proxy.close();
  });
  EXPECT_EQ(asked.size(), 1);
}

TEST(Proxy, SaysWhyItRefuses) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  std::vector<std::string> asked;
  struct Case {
    const char* answer;
    const char* error;
    ErrorKind kind;
  };
  const Case cases[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
       "it refused to connect to {}: 407 Proxy Authentication Required", ErrorKind::denied},
      {"HTTP/1.0 503 Service Unavailable\r\n\r\n", "it refused to connect to {}: 503 Service Unavailable",
       ErrorKind::unavailable},
      {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "it does not answer as an HTTP proxy does", ErrorKind::protocol},
      {"", "it closed the connection", ErrorKind::unavailable},
  };
  std::vector<std::unique_ptr<TestServer>> proxies;
  for (const Case& c : cases)
    proxies.push_back(std::make_unique<TestServer>(loop, std::nullopt, connect_proxy(loop, 0, asked, c.answer)));
  std::string address = fmt::format("127.0.0.1:{}", server.server().port());
  for (size_t i = 0; i < std::size(cases); ++i) {
    ClientOptions options = through(*proxies[i], "me:secret@");
    options.tls.ca_pem = server.server().ca_pem();
    auto client = Client::make(loop, parse_url(server.server().url()).value(), options).value();
    Result<Response> result = loop.run(get(loop, *client));
    std::string why = fmt::format(fmt::runtime(cases[i].error), address);
    EXPECT_EQ(error_text(result),
              fmt::format("cannot connect to {} through the proxy 127.0.0.1:{}: {}", address, proxies[i]->port(), why));
    EXPECT_EQ(error_kind(result), cases[i].kind);
    loop.run(client->close());
    loop.run(proxies[i]->close());
  }
  loop.run(server.server().close());
}

TEST(Proxy, SaysThatItCannotBeReached) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  TestServer proxy(loop, std::nullopt, nullptr);
  proxy.stop_listening();
  tell(loop, server.server(), through(proxy), [&](Client& client) -> Task<void> {
    EXPECT_EQ(error_text(co_await get(loop, client)),
              fmt::format("cannot connect to the proxy 127.0.0.1:{}: connection refused", proxy.port()));
    co_await proxy.close();
  });
}

// SOCKS 5 as in RFC 1928 and 1929, as far as a test needs it.
TestServer::Serve socks_proxy(RealLoop& loop, uint16_t to, std::string& seen, std::string verdict) {
  return [&loop, to, &seen, verdict](std::unique_ptr<Stream> stream) -> Task<void> {
    char buffer[512];
    auto take = [&]() -> Task<std::string> {
      auto n = co_await stream->read(buffer, sizeof buffer);
      co_return std::string(buffer, n.value_or(0));
    };
    seen += co_await take();
    (void)co_await stream->write(std::string_view("\x05\x02", 2));
    seen += co_await take();
    (void)co_await stream->write(std::string_view("\x01\x00", 2));
    seen += co_await take();
    (void)co_await stream->write(verdict);
    if (verdict[1] == 0) co_await join_up(loop, *stream, to);
  };
}

TEST(Proxy, MaySpeakSocks) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  std::string seen;
  TestServer proxy(loop, std::nullopt,
                   socks_proxy(loop, server.server().port(), seen,
                               std::string("\x05\x00\x00\x03\x03"
                                           "abc\x00\x00",
                                           10)));
  ClientOptions options;
  options.proxy = parse_url(fmt::format("socks5://me:secret@127.0.0.1:{}", proxy.port())).value();
  tell(
      loop, server.server(), options,
      [&](Client& client) -> Task<void> {
        EXPECT_EQ(body_or_error(co_await get(loop, client)), "hello");
        co_await client.close();
        co_await proxy.close();
      },
      fmt::format("https://localhost:{}", server.server().port()));
  uint16_t port = server.server().port();
  std::string expected = std::string("\x05\x02\x00\x02", 4) + "\x01\x02me\x06secret" +
                         std::string("\x05\x01\x00\x03\x09localhost", 14) + static_cast<char>(port >> 8) +
                         static_cast<char>(port & 0xff);
  EXPECT_EQ(seen, expected);
}

TEST(Proxy, SaysWhySocksRefuses) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  std::string seen;
  TestServer proxy(loop, std::nullopt, socks_proxy(loop, 0, seen, std::string("\x05\x05\x00\x01", 4)));
  ClientOptions options;
  options.proxy = parse_url(fmt::format("socks5://me:secret@127.0.0.1:{}", proxy.port())).value();
  tell(loop, server.server(), options, [&](Client& client) -> Task<void> {
    std::string address = fmt::format("127.0.0.1:{}", server.server().port());
    EXPECT_EQ(
        error_text(co_await get(loop, client)),
        fmt::format(
            "cannot connect to {0} through the proxy 127.0.0.1:{1}: it refused to connect to {0}: connection refused",
            address, proxy.port()));
    co_await client.close();
    co_await proxy.close();
  });
}

TEST(Proxy, GetsWholeUrlsForPlainHttp) {
  RealLoop loop;
  std::string seen;
  TestServer proxy(loop, std::nullopt, [&](std::unique_ptr<Stream> stream) -> Task<void> {
    seen = co_await read_until(*stream, "\r\n\r\n");
    (void)co_await stream->write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  });
  tell(
      loop, proxy, through(proxy, "me:secret@"),
      [&](Client& client) -> Task<void> { EXPECT_EQ(body_or_error(co_await get(loop, client, "/x?y")), "hello"); },
      "http://example.test/base");
  EXPECT_EQ(seen,
            "GET http://example.test/base/x?y HTTP/1.1\r\nHost: example.test\r\naccept-encoding: gzip\r\n"
            "user-agent: fairlead\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\r\n");
}

}  // namespace
}  // namespace fairlead::http

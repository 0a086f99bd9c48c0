// The client with servers that speak HTTP/1.1.
#include "http/client/internal/h1_connection.h"

#include "http/client/client_testing.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

// One request, as it came: head and body.
Task<std::string> read_request(Stream& stream) {
  std::string text;
  size_t wanted = std::string::npos;
  char byte;
  while (text.size() < wanted) {
    auto n = co_await stream.read(&byte, 1);
    if (!n || *n == 0) co_return "";
    text += byte;
    if (wanted != std::string::npos || !text.ends_with("\r\n\r\n")) continue;
    size_t length = text.find("Content-Length: ");
    wanted = text.size() + (length == std::string::npos ? 0 : std::stoul(text.substr(length + 16)));
  }
  co_return text;
}

std::string sized(std::string_view body) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
}

// Gives each request the next of the answers; where those run out, the first again.
struct Script {
  std::vector<std::string> answers;
  bool closes = false;
  std::vector<std::string> seen = {};
  size_t next = 0;

  TestServer::Serve serve() {
    return [this](std::unique_ptr<Stream> stream) -> Task<void> {
      while (true) {
        std::string request = co_await read_request(*stream);
        if (request.empty()) co_return;
        seen.push_back(request);
        if (!co_await stream->write(answers[next++ % answers.size()])) co_return;
        if (closes) co_return;
      }
    };
  }
};

TEST(Http1, KeepsAConnectionAlive) {
  RealLoop loop;
  Script script{
      .answers = {sized("one"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\ntwo\r\n0\r\n\r\n"}};
  TestServer server(loop, TestServer::Tls{.alpn = "http/1.1"}, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await patch(loop, client, "{}")), "one");
    EXPECT_EQ(body_or_error(co_await get(loop, client, "/x")), "two");
    EXPECT_EQ(client.counts().connections, 1);
  });
  std::string host = fmt::format("127.0.0.1:{}", server.port());
  EXPECT_EQ(script.seen[0],
            fmt::format("PATCH / HTTP/1.1\r\nHost: {}\r\naccept-encoding: gzip\r\nuser-agent: fairlead\r\n"
                        "Content-Length: 2\r\n\r\n{{}}",
                        host));
  EXPECT_EQ(script.seen[1],
            fmt::format("GET /x HTTP/1.1\r\nHost: {}\r\naccept-encoding: gzip\r\nuser-agent: fairlead\r\n\r\n", host));
}

TEST(Http1, IsUsedWhereHttp2IsNotWanted) {
  RealLoop loop;
  Script script{.answers = {sized("one")}};
  TestServer server(loop, TestServer::Tls{.alpn = "http/1.1"}, script.serve());
  tell(loop, server, {.http2 = false},
       [&](Client& client) -> Task<void> { EXPECT_EQ(body_or_error(co_await get(loop, client)), "one"); });
}

TEST(Http1, OpensAConnectionForEachRequestUpToALimit) {
  RealLoop loop;
  Script script{.answers = {sized("plain")}};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {.max_http1_connections = 5}, [&](Client& client) -> Task<void> {
    Scope scope(loop, nullptr);
    int good = 0;
    auto one = [](RealLoop& on, Client& with, int& count) -> Task<void> {
      count += body_or_error(co_await get(on, with)) == "plain";
    };
    for (int i = 0; i < 50; ++i) scope.spawn(one(loop, client, good));
    co_await scope.join();
    EXPECT_EQ(good, 50);
  });
  EXPECT_GT(server.accepted(), 1);
  EXPECT_LE(server.accepted(), 5);
}

TEST(Http1, AWatchTakesNoConnectionThatOthersKnow) {
  RealLoop loop;
  Script script{.answers = {sized("plain"), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n"}};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    uint64_t known = (co_await get(loop, client)).value().connection;
    Answer watch = (co_await client.open({.target = "/watch", .long_lived = true})).value();
    EXPECT_NE(watch.connection, known);
    EXPECT_EQ((co_await in_time(loop, send(client, {.target = "/x", .connection = known}))).value().connection, known);
  });
  EXPECT_EQ(server.accepted(), 2);
}

TEST(Http1, SeesThatTheServerHasClosedAnIdleConnection) {
  RealLoop loop;
  Script script{.answers = {sized("once")}, .closes = true};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(body_or_error(co_await get(loop, client)), "once");
  });
}

TEST(Http1, ClosesAConnectionWithAFormerCertificateOnceItsAnswerIsThere) {
  RealLoop loop;
  Signal changed(loop);
  bool is_asked = false, may_answer = false, is_closed = false;
  TestServer server(loop, TestServer::Tls{.alpn = "http/1.1"}, [&](std::unique_ptr<Stream> stream) -> Task<void> {
    EXPECT_FALSE((co_await read_request(*stream)).empty());
    is_asked = true;
    changed.notify_all();
    while (!may_answer)
      if (!co_await changed.wait()) co_return;
    EXPECT_TRUE(co_await stream->write(sized("late")));
    EXPECT_EQ(co_await read_request(*stream), "");
    is_closed = true;
    changed.notify_all();
  });
  auto until = [&](bool& is) -> Task<Result<void>> {
    while (!is) CO_TRY(co_await changed.wait());
    co_return Result<void>();
  };
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    Scope scope(loop, nullptr);
    scope.spawn([](RealLoop& on, Client& with) -> Task<void> {
      EXPECT_EQ(body_or_error(co_await get(on, with)), "late");
    }(loop, client));
    EXPECT_TRUE(co_await in_time(loop, until(is_asked)));
    EXPECT_TRUE(client.set_client_certificate("", ""));
    may_answer = true;
    changed.notify_all();
    co_await scope.join();
    EXPECT_TRUE(co_await in_time(loop, until(is_closed)));
  });
}

TEST(Http1, TellsWhatWasLost) {
  RealLoop loop;
  Script script{.answers = {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", "HTTP/1.1 20"}, .closes = true};
  TestServer server(loop, std::nullopt, script.serve());
  std::string address = fmt::format("127.0.0.1:{}", server.port());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(error_text(co_await patch(loop, client)), address + " closed the connection");
    Result<Response> lost = co_await patch(loop, client);
    EXPECT_EQ(error_text(lost),
              fmt::format("the request may have been carried out: {} closed the connection", address));
    EXPECT_EQ(delivery_of(lost.error()), Delivery::unknown);
  });
}

TEST(Http1, SaysThatAServerIsNone) {
  RealLoop loop;
  Script script{.answers = {"220 mail.example ESMTP\r\n"}, .closes = true};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    Result<Response> result = co_await get(loop, client);
    EXPECT_EQ(error_text(result), fmt::format("the answer of 127.0.0.1:{} is no HTTP/1.1: bad version", server.port()));
    EXPECT_EQ(error_kind(result), ErrorKind::protocol);
  });
}

TEST(Http1, StreamsAndGivesUp) {
  RealLoop loop;
  Script script{.answers = {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nevent\r\n"}};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    {
      Result<Answer> watch = co_await client.open({.target = "/watch", .long_lived = true});
      EXPECT_EQ((co_await in_time(loop, watch->body->read())).value(), "event");
      auto late = with_deadline(loop, loop.now() + 5ms, "nothing more", watch->body->read());
      EXPECT_EQ(error_text(co_await std::move(late)), "nothing more");
    }
    Result<Answer> other = co_await client.open({.target = "/watch", .long_lived = true});
    EXPECT_EQ((co_await in_time(loop, other->body->read())).value(), "event");
  });
  EXPECT_EQ(server.accepted(), 2);
}

// More is always there already when it is asked for.
TEST(Http1, EndsAStreamThatNeverStops) {
  RealLoop loop;
  TestServer server(loop, std::nullopt, [](std::unique_ptr<Stream> stream) -> Task<void> {
    if ((co_await read_request(*stream)).empty()) co_return;
    (void)co_await stream->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    std::string piece = fmt::format("{:x}\r\n{}\r\n", 65536, std::string(65536, 'x'));
    while (co_await stream->write(piece)) continue;
  });
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    Result<Answer> watch = co_await client.open({.target = "/watch", .long_lived = true});
    size_t bytes = 0;
    CancelSource cancel;
    auto read = [&]() -> Task<Result<void>> {
      while (true) {
        CO_TRY_ASSIGN(std::optional<std::string> piece, co_await watch->body->read());
        bytes += piece->size();
        if (bytes > (8 << 20)) cancel.cancel();
        if (bytes > (64 << 20)) co_return fail(ErrorKind::internal, "it was not cancelled");
      }
    };
    EXPECT_EQ(error_text(co_await read().governed_by(&cancel)), "cancelled");
  });
}

TEST(Http1, UnpacksOnlyWhatItAskedFor) {
  RealLoop loop;
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\x07\x00\x86\xa6\x10\x36\x05\x00\x00\x00", 25);
  Script script{
      .answers = {fmt::format("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n{}", packed)}};
  TestServer server(loop, std::nullopt, script.serve());
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    Result<Response> plain = co_await get(loop, client);
    EXPECT_EQ(body_or_error(plain), "hello");
    EXPECT_EQ(plain->headers.find("content-encoding"), std::nullopt);
    Request asks{.headers = {{"Accept-Encoding", "gzip"}}};
    EXPECT_EQ(body_or_error(co_await in_time(loop, send(client, asks))), packed);
  });
}

}  // namespace
}  // namespace fairlead::http

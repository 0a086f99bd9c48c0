#include "http/server/server.h"

#include "http/server/server_testing.h"

namespace fairlead::http {
namespace {

TEST_F(ServerTest, KeepsAConnectionForManyRequests) {
  serve_tls();
  TestClient client(port(), trusting());
  ASSERT_TRUE(client.connected());
  EXPECT_EQ(client.protocol(), "http/1.1");
  for (int i = 0; i < 100; ++i) {
    std::string body(size_t(i) * 100, 'x');
    EXPECT_EQ(client.exchange(post("/echo", body)),
              fmt::format("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\nPOST {}",
                          body.size() + 5, body));
  }
  EXPECT_EQ(client.exchange(get("/nothing")), "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(client.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(client.exchange(get("/odd")), "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n");
}

TEST_F(ServerTest, LargeBodiesBothWays) {
  serve_tls();
  TestClient client(port(), trusting());
  std::string large(3 << 20, 'y');
  EXPECT_EQ(
      client.exchange(post("/echo", large)).size(),
      std::string_view("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3145733\r\n\r\nPOST ").size() +
          large.size());
  EXPECT_TRUE(client.exchange(get("/big")).ends_with(std::string(3 << 20, 'x')));
}

TEST_F(ServerTest, ReadsAChunkedBodyAndPipelinedRequests) {
  serve();
  TestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n" +
              get("/who") + get("/none"));
  EXPECT_EQ(client.read_answer(),
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nPOST abcde");
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nnobody 127.0.0.1");
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(ServerTest, AnswersWhatWasSentAheadWhileAnotherWaited) {
  serve_tls();
  TestClient client(port(), trusting());
  client.send(get("/wait"));
  until_waiting();
  client.send(get("/none"));
  client.send(get("/who"));
  go_on();
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nwaited");
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\nnobody 127.0.0.1");
  EXPECT_EQ(client.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(ServerTest, SpeaksTheOldVersionAndClosesWhenAsked) {
  serve();
  TestClient old(port());
  EXPECT_EQ(old.exchange("GET /none HTTP/1.0\r\n\r\n"), "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(old.read_to_end(), "");
  TestClient keeping(port());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(keeping.exchange("GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
              "HTTP/1.1 204 No Content\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(keeping.exchange("GET /stream?a,b HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(keeping.read_to_end(), "ab");
  TestClient closing(port());
  EXPECT_EQ(closing.exchange("GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(closing.read_to_end(), "");
}

TEST_F(ServerTest, HeadHasNoBody) {
  serve();
  TestClient client(port());
  client.send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" + get("/none"));
  EXPECT_TRUE(client.read_until("\r\n\r\n").ends_with("Content-Length: 5\r\n\r\n"));
  EXPECT_EQ(client.read_answer(), "HTTP/1.1 204 No Content\r\n\r\n");
  // A body that would wait is given up.
  client.send("HEAD /stream?,a HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(client.read_until("\r\n\r\n").ends_with("Transfer-Encoding: chunked\r\n\r\n"));
  EXPECT_TRUE(was_cancelled());
  EXPECT_EQ(client.exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST_F(ServerTest, SaysContinueOnlyToThoseWhoWait) {
  serve({.limits = {.body_bytes = 10}});
  TestClient client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("abc");
  EXPECT_TRUE(client.read_answer().ends_with("\r\n\r\nPOST abc"));
  EXPECT_TRUE(client.exchange("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc")
                  .ends_with("\r\n\r\nPOST abc"));
  EXPECT_TRUE(client.exchange("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n")
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_EQ(client.read_to_end(), "");
  TestClient odd(port());
  EXPECT_TRUE(odd.exchange("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\nContent-Length: 3\r\n\r\n")
                  .starts_with("HTTP/1.1 417 "));
}

TEST_F(ServerTest, RefusesAndClosesWhatIsMalformedOrTooLarge) {
  serve({.limits = {.header_bytes = 1000, .body_bytes = 100}});
  auto refused = [&](std::string_view request, std::string_view status, std::string_view words) {
    TestClient client(port());
    client.send(request);
    std::string answer = client.read_answer();
    EXPECT_EQ(answer, fmt::format("HTTP/1.1 {}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
                                  "Content-Length: {}\r\n\r\n{}",
                                  status, words.size(), words));
    EXPECT_EQ(client.read_to_end(), "");
  };
  auto malformed = [&](std::string_view request) { refused(request, "400 Bad Request", "the request is malformed\n"); };
  malformed("garbage\r\n\r\n");
  malformed("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a hello of TLS"sv);
  malformed("GET / HTTP/1.1\r\n\r\n");
  malformed("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
  malformed("GET / HTTP/2.0\r\nHost: a\r\n\r\n");
  malformed("GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n");
  malformed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd");
  malformed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
  malformed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n");
  malformed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
  std::string_view too_large = "the body of the request is too large\n";
  refused(post("/echo", std::string(101, 'x')), "413 Content Too Large", too_large);
  refused(post("/echo", std::string(1 << 20, 'x')), "413 Content Too Large", too_large);
  refused("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n" + std::string(101, 'x') +
              "\r\n0\r\n\r\n",
          "413 Content Too Large", too_large);
  refused("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(2000, 'x') + "\r\n\r\n",
          "431 Request Header Fields Too Large", "the head of the request is too large\n");
  TestClient client(port());
  EXPECT_TRUE(client.exchange(post("/echo", std::string(100, 'x'))).starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ServerTest, WhoeverSendsFarTooMuchStillReadsTheAnswer) {
  serve_tls({.limits = {.body_bytes = size_t{1} << 20}});
  TestClient client(port(), trusting());
  client.send(post("/echo", std::string(size_t{3} << 20, 'x')));
  EXPECT_TRUE(client.read_answer().starts_with("HTTP/1.1 413 "));
}

TEST_F(ServerTest, RequestsMayComeInAnyPieces) {
  serve();
  std::string request = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  TestClient client(port());
  for (size_t i = 1; i < request.size(); ++i) {
    client.send(request.substr(0, i));
    client.send(request.substr(i));
    EXPECT_TRUE(client.read_answer().ends_with("\r\n\r\nPOST abc")) << i;
  }
}

TEST_F(ServerTest, AllBodiesTogetherHaveALimit) {
  serve({.limits = {.body_bytes = 100, .all_bodies_bytes = 150, .small_body_bytes = 0}});
  TestClient first(port()), second(port()), third(port());
  first.send(post("/wait", std::string(100, 'x')));
  until_waiting();
  EXPECT_EQ(second.exchange(post("/echo", std::string(51, 'x'))),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n"
            "Connection: close\r\nContent-Length: 32\r\n\r\ntoo many large requests at once\n");
  EXPECT_TRUE(third.exchange(post("/echo", std::string(50, 'x'))).starts_with("HTTP/1.1 200 OK\r\n"));
  go_on();
  EXPECT_TRUE(first.read_answer().ends_with("waited"));
  EXPECT_TRUE(third.exchange(post("/echo", std::string(100, 'x'))).starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ServerTest, BodiesThatDoNotComeKeepNobodyOut) {
  serve({.limits = {.body_bytes = 100, .all_bodies_bytes = 150, .small_body_bytes = 10}});
  std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";
  std::vector<std::unique_ptr<TestClient>> announcing;
  for (int i = 0; i < 8; ++i) {
    announcing.push_back(std::make_unique<TestClient>(port()));
    announcing.back()->send(head + "x");
  }
  // Those that have sent most of theirs make room, the oldest first.
  TestClient oldest(port()), older(port());
  oldest.send(head + std::string(99, 'x'));
  // The server reads from its connections in the order in which data arrived.
  EXPECT_EQ(TestClient(port()).exchange(get("/none")), "HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_TRUE(older.exchange(post("/echo", std::string(100, 'x'))).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(oldest.read_answer().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
  announcing.front()->send(std::string(99, 'x'));
  EXPECT_TRUE(announcing.front()->read_answer().starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_F(ServerTest, SmallRequestsAreReadBesideLargeOnes) {
  serve({.limits = {.body_bytes = 100, .all_bodies_bytes = 100, .small_body_bytes = 10}});
  TestClient large(port()), small(port());
  large.send(post("/wait", std::string(100, 'x')));
  until_waiting();
  EXPECT_TRUE(small.exchange(post("/echo", std::string(10, 'x'))).starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(small.exchange(post("/echo", std::string(11, 'x'))).starts_with("HTTP/1.1 503 "));
  go_on();
  EXPECT_TRUE(large.read_answer().ends_with("waited"));
}

TEST_F(ServerTest, SlowRequestsAreCutOff) {
  serve_tls({.limits = {.header = 20ms, .body = 20ms}});
  TestClient slow_head(port(), trusting());
  slow_head.send("GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ");
  EXPECT_TRUE(slow_head.read_answer().ends_with("\r\n\r\nthe request did not come in time\n"));
  EXPECT_EQ(slow_head.read_to_end(), "");
  TestClient slow_body(port(), trusting());
  slow_body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab");
  EXPECT_TRUE(slow_body.read_answer().starts_with("HTTP/1.1 408 Request Timeout\r\n"));
  EXPECT_EQ(slow_body.read_to_end(), "");
}

TEST_F(ServerTest, StreamsEachPieceAtOnce) {
  serve_tls();
  TestClient client(port(), trusting());
  client.send(get("/stream?,one,,two,three,"));
  // The head comes before the first piece is there.
  EXPECT_TRUE(client.read_until("\r\n\r\n").ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n"));
  go_on();
  EXPECT_EQ(client.read_until("one\r\n"), "3\r\none\r\n");
  go_on();
  EXPECT_EQ(client.read_until("three\r\n"), "3\r\ntwo\r\n5\r\nthree\r\n");
  go_on();
  EXPECT_EQ(client.read_until("\r\n\r\n"), "0\r\n\r\n");
  EXPECT_TRUE(client.exchange(get("/stream?one,two")).ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
  EXPECT_TRUE(client.exchange(get("/stream?one")).ends_with("Content-Length: 3\r\n\r\none"));
}

TEST_F(ServerTest, ABodyThatIsCutOffEndsTheConnection) {
  serve();
  TestClient client(port());
  client.send(get("/stream?one,two,!"));
  EXPECT_TRUE(client.read_to_end().ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"));
  TestClient at_once(port());
  EXPECT_TRUE(at_once.exchange(get("/stream?!")).starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
}

TEST_F(ServerTest, AHandlerMayPromiseALengthAndHasToKeepIt) {
  serve();
  auto promise = [](int length) {
    return fmt::format("GET /stream?ab,cd HTTP/1.1\r\nHost: a\r\nX-Promise: {}\r\n\r\n", length);
  };
  TestClient client(port());
  EXPECT_EQ(client.exchange(promise(4)), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd");
  EXPECT_EQ(client.exchange(promise(5)), "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcd");
  EXPECT_EQ(client.read_to_end(), "");
  TestClient more(port());
  more.send(promise(3));
  EXPECT_EQ(more.read_to_end().find("abcd"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::http

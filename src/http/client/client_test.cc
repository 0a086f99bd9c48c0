#include "http/client/client.h"

#include <nghttp2/nghttp2.h>

#include "http/client/client_testing.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

std::string address_of(H2TestServer& server) { return fmt::format("127.0.0.1:{}", server.server().port()); }

void answer_ok(H2Peer& peer, const PeerRequest& request) { peer.answer(request.stream, 200, request.path); }

// Sends them all side by side and collects what comes back.
Task<std::vector<std::string>> send_all(RealLoop& loop, Client& client, std::vector<Request> requests) {
  std::vector<std::string> results(requests.size());
  Scope scope(loop, nullptr);
  auto one = [](RealLoop& on, Client& with, Request request, std::string& result) -> Task<void> {
    result = body_or_error(co_await in_time(on, send(with, std::move(request))));
  };
  for (size_t i = 0; i < requests.size(); ++i) scope.spawn(one(loop, client, std::move(requests[i]), results[i]));
  co_await scope.join();
  co_return results;
}

std::vector<Request> numbered(size_t count, Request like = {}) {
  std::vector<Request> requests(count, like);
  for (size_t i = 0; i < count; ++i) requests[i].target = fmt::format("/{}", i);
  return requests;
}

std::vector<std::string> numbers(size_t count) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < count; ++i) paths.push_back(fmt::format("/{}", i));
  return paths;
}

TEST(Client, GetsAnAnswer) {
  RealLoop loop;
  PeerRequest seen;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    seen = request;
    peer.inform(request.stream, 103);
    peer.answer(request.stream, 201, "hello", {{"x-it", "works"}}, {{"x-trailer", "ignored"}});
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Request request{
        .method = "PATCH", .target = "/a?b=c", .headers = {{"Content-Type", "application/json"}}, .body = "{}"};
    Result<Response> response = co_await in_time(loop, send(client, request));
    EXPECT_EQ(body_or_error(response), "hello");
    if (!response) co_return;
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->headers.find("X-It"), "works");
    EXPECT_EQ(response->headers.find("x-trailer"), std::nullopt);
    EXPECT_NE(response->connection, 0);
    EXPECT_EQ(client.counts().requests, 1);
    EXPECT_EQ(client.counts().connections, 1);
    EXPECT_EQ(client.counts().in_flight, 0);
  });
  EXPECT_EQ(seen.method, "PATCH");
  EXPECT_EQ(seen.path, "/a?b=c");
  EXPECT_EQ(seen.body, "{}");
  EXPECT_EQ(seen.authority, address_of(server));
  EXPECT_EQ(seen.headers.find("content-type"), "application/json");
  EXPECT_EQ(seen.headers.find("content-length"), "2");
  EXPECT_EQ(seen.headers.find("user-agent"), "fairlead");
  EXPECT_EQ(seen.headers.find("accept-encoding"), "gzip");
}

TEST(Client, PutsThePathOfTheUrlBeforeEveryTarget) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  tell(
      loop, server.server(), {},
      [&](Client& client) -> Task<void> {
        EXPECT_EQ(body_or_error(co_await get(loop, client, "/version")), "/k8s/clusters/c-1/version");
      },
      server.server().url() + "/k8s/clusters/c-1/");
}

TEST(Client, SendsManyAtOnceOverOneConnectionInFewWrites) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(co_await send_all(loop, client, numbered(1000)), numbers(1000));
    EXPECT_GE(client.counts().in_flight_limit, 32);
  });
  EXPECT_EQ(server.server().accepted(), 1);
  EXPECT_LT(server.peer(0).reads, 200);
}

TEST(Client, OpensFurtherConnectionsWhenStreamsRunOut) {
  RealLoop loop;
  std::vector<std::pair<H2Peer*, int32_t>> held;
  H2TestServer server(loop,
                      [&](H2Peer& peer, const PeerRequest& request) {
                        held.emplace_back(&peer, request.stream);
                        if (held.size() < 30) return;
                        for (auto [holder, stream] : held) holder->answer(stream, 200, "done");
                      },
                      {.max_streams = 10});
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    auto results = co_await send_all(loop, client, numbered(30, {.method = "POST", .long_lived = true}));
    EXPECT_EQ(results, std::vector<std::string>(30, "done"));
    EXPECT_EQ(client.counts().connections, 3);
  });
  for (size_t i = 0; i < server.peers(); ++i) EXPECT_LE(server.peer(i).most_open_streams(), 10);
}

TEST(Client, WaitsForStreamsWhenConnectionsRunOut) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok, {.max_streams = 3});
  tell(loop, server.server(), {.max_connections = 2}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(co_await send_all(loop, client, numbered(200, {.method = "POST"})), numbers(200));
  });
  EXPECT_EQ(server.server().accepted(), 2);
}

TEST(Client, SendsAgainWhatTheServerDidNotTake) {
  RealLoop loop;
  int refusals = 0;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (refusals++ < 2) return peer.reset(request.stream, NGHTTP2_REFUSED_STREAM);
    peer.answer(request.stream, 200, request.body);
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await patch(loop, client, "once")), "once");
    EXPECT_EQ(client.counts().sent_again, 2);
    EXPECT_EQ(client.counts().requests, 1);
  });
}

TEST(Client, GivesUpOnAServerThatTakesNothing) {
  RealLoop loop;
  H2TestServer server(
      loop, [&](H2Peer& peer, const PeerRequest& request) { peer.reset(request.stream, NGHTTP2_REFUSED_STREAM); });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Response> response = co_await patch(loop, client);
    EXPECT_EQ(error_text(response), address_of(server) + " did not take the request");
    EXPECT_EQ(error_kind(response), ErrorKind::unavailable);
    EXPECT_EQ(delivery_of(response.error()), Delivery::never);
  });
}

TEST(Client, MovesToAnotherConnectionWhenTheServerSaysGoodbye) {
  RealLoop loop;
  std::vector<int32_t> first;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (&peer != &server.peer(0)) return peer.answer(request.stream, 200, "second connection");
    first.push_back(request.stream);
    if (first.size() < 3) return;
    // Two were processed, the third never will be. The goodbye reaches the client before the answers do.
    peer.go_away(first[1]);
    peer.answer(first[0], 200, "first connection");
    peer.answer(first[1], 200, "first connection");
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    auto results = co_await send_all(loop, client, numbered(3, {.method = "POST"}));
    EXPECT_EQ(results, (std::vector<std::string>{"first connection", "first connection", "second connection"}));
    EXPECT_EQ(body_or_error(co_await patch(loop, client)), "second connection");
    EXPECT_EQ(client.counts().connections, 2);
  });
}

TEST(Client, SendsAGetAgainWhenTheConnectionIsLost) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (server.peers() == 1) return peer.cut();
    peer.answer(request.stream, 200, "second connection");
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(loop, client)), "second connection");
    EXPECT_EQ(client.counts().sent_again, 1);
  });
}

TEST(Client, SaysThatALostPatchMayHaveBeenCarriedOut) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest&) { peer.cut(); });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Response> response = co_await patch(loop, client);
    EXPECT_EQ(error_text(response),
              fmt::format("the request may have been carried out: {} closed the connection", address_of(server)));
    EXPECT_EQ(error_kind(response), ErrorKind::unavailable);
    EXPECT_EQ(delivery_of(response.error()), Delivery::unknown);
  });
}

TEST(Client, SaysHowTheServerBrokeAnAnswerOff) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    peer.begin(request.stream, 200);
    peer.more(request.stream, "half");
    peer.reset(request.stream, NGHTTP2_INTERNAL_ERROR);
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    // Broken off before its head went out: nothing of the answer is left.
    EXPECT_EQ(error_text(co_await patch(loop, client)),
              fmt::format("the request may have been carried out: {} broke the answer off (INTERNAL_ERROR)",
                          address_of(server)));
  });
}

TEST(Client, UploadsAndDownloadsMuchMoreThanAWindow) {
  RealLoop loop;
  H2TestServer server(loop,
                      [&](H2Peer& peer, const PeerRequest& request) { peer.answer(request.stream, 200, request.body); },
                      {.window = 10'000});
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    std::string body(5'000'000, 'x');
    for (size_t i = 0; i < body.size(); i += 1000) body[i] = static_cast<char>('a' + i / 1000 % 26);
    EXPECT_EQ(body_or_error(co_await patch(loop, client, body)), body);
  });
}

TEST(Client, LetsTheServerSendOnlyAsMuchAsIsRead) {
  RealLoop loop;
  constexpr size_t kWindow = 1 << 20;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    peer.answer(request.stream, 200, request.path == "/other" ? "quick" : std::string(8 * kWindow, 'x'));
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Answer> answer = co_await client.open({.target = "/big"});
    EXPECT_TRUE(answer);
    if (!answer) co_return;
    while (server.peer(0).sent_of_body(1) < kWindow) EXPECT_TRUE(co_await server.peer(0).changed.wait());
    // Nothing is read: others get through, and nothing more of the big one comes.
    EXPECT_EQ(body_or_error(co_await get(loop, client, "/other")), "quick");
    EXPECT_EQ(server.peer(0).sent_of_body(1), kWindow);
    size_t read = 0;
    while (true) {
      auto piece = co_await in_time(loop, answer->body->read());
      EXPECT_TRUE(piece) << error_text(piece);
      if (!piece || !*piece) break;
      read += (*piece)->size();
      EXPECT_LE(server.peer(0).sent_of_body(1), read + kWindow);
    }
    EXPECT_EQ(read, 8 * kWindow);
  });
}

TEST(Client, TellsTheServerThatARequestIsGivenUp) {
  RealLoop loop;
  CancelSource ping_times;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (request.path == "/never") loop.post([&] { ping_times.cancel(); });
    if (request.path == "/half") peer.begin(request.stream, 200), peer.more(request.stream, "half");
    if (request.path == "/quick") peer.answer(request.stream, 200, "quick");
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(body_or_error(co_await get(loop, client, "/quick")), "quick");
    Result<Response> never = co_await send(client, Request{.target = "/never"}).governed_by(&ping_times);
    EXPECT_EQ(error_text(never), "cancelled");
    while (server.peer(0).resets.size() < 1) EXPECT_TRUE(co_await server.peer(0).changed.wait());
    {
      Result<Answer> half = co_await client.open({.target = "/half", .long_lived = true});
      EXPECT_TRUE(half);
    }
    while (server.peer(0).resets.size() < 2) EXPECT_TRUE(co_await server.peer(0).changed.wait());
    EXPECT_EQ(body_or_error(co_await get(loop, client, "/quick")), "quick");
    EXPECT_EQ(client.counts().in_flight, 0);
    EXPECT_EQ(client.counts().connections, 1);
  });
  EXPECT_EQ(server.peer(0).resets, (std::map<int32_t, uint32_t>{{3, NGHTTP2_CANCEL}, {5, NGHTTP2_CANCEL}}));
}

TEST(Client, NoticesAServerThatIsGoneWithoutAWord) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest&) { peer.deaf = true; });
  tell(loop, server.server(), {.ping_after = 10ms, .ping_timeout = 10ms}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(error_text(co_await patch(loop, client)),
              fmt::format("the request may have been carried out: {} gives no sign of life", address_of(server)));
  });
}

TEST(Client, IsPatientWithAServerThatAnswersPings) {
  RealLoop loop;
  int32_t held = 0;
  H2TestServer server(loop, [&](H2Peer&, const PeerRequest& request) { held = request.stream; });
  tell(loop, server.server(), {.ping_after = 2ms, .ping_timeout = 200ms}, [&](Client& client) -> Task<void> {
    Scope scope(loop, nullptr);
    auto later = [](H2TestServer& with, const int32_t& stream, Loop& on) -> Task<void> {
      while (with.peers() == 0) EXPECT_TRUE(co_await sleep_for(on, 1ms));
      while (with.peer(0).pings < 3) EXPECT_TRUE(co_await with.peer(0).changed.wait());
      with.peer(0).answer(stream, 200, "late");
    };
    scope.spawn(later(server, held, loop));
    EXPECT_EQ(body_or_error(co_await patch(loop, client)), "late");
    co_await scope.join();
  });
}

TEST(Client, KeepsToItsLimitButForLongLivedRequests) {
  RealLoop loop;
  std::vector<int32_t> watches;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (request.path == "/watch") return watches.push_back(request.stream), peer.begin(request.stream, 200);
    peer.answer(request.stream, 200, request.path);
  });
  tell(loop, server.server(), {.max_in_flight = 4}, [&](Client& client) -> Task<void> {
    std::vector<Answer> open;
    for (int i = 0; i < 10; ++i)
      open.push_back((co_await client.open({.target = "/watch", .long_lived = true})).value());
    EXPECT_EQ(co_await send_all(loop, client, numbered(100)), numbers(100));
    EXPECT_EQ(server.peer(0).most_open_streams(), 14);
    for (int32_t stream : watches) server.peer(0).more(stream, "event");
    for (Answer& watch : open) EXPECT_EQ((co_await in_time(loop, watch.body->read())).value(), "event");
  });
}

TEST(Client, SendsLessAtOnceToAServerThatRefuses) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    peer.answer(request.stream, 429, "later", {{"retry-after", "1"}});
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Response> response = co_await get(loop, client);
    EXPECT_EQ(response.value().status, 429);
    EXPECT_EQ(client.counts().in_flight_limit, 16);
  });
}

TEST(Client, UsesTheConnectionThatIsAskedFor) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (request.path == "/cut") return peer.cut();
    peer.answer(request.stream, 200, request.path);
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    uint64_t id = (co_await get(loop, client)).value().connection;
    Request pinned{.target = "/pinned", .connection = id};
    EXPECT_EQ((co_await in_time(loop, send(client, pinned))).value().connection, id);
    pinned.target = "/cut";
    EXPECT_EQ(error_text(co_await in_time(loop, send(client, pinned))), address_of(server) + " closed the connection");
    EXPECT_EQ(error_text(co_await in_time(loop, send(client, pinned))),
              fmt::format("connection {} to {} is gone", id, address_of(server)));
    EXPECT_NE((co_await get(loop, client)).value().connection, id);
  });
}

// Others still read from that connection, so that it is there; but nothing further can be sent over it.
TEST(Client, DoesNotWaitForAConnectionThatTheServerSaidGoodbyeOn) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (request.path == "/stream") return peer.begin(request.stream, 200);
    if (request.path == "/goodbye") peer.go_away(request.stream);
    peer.answer(request.stream, 200, request.path);
  });
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    Result<Answer> stream = co_await in_time(loop, client.open(Request{.target = "/stream"}));
    uint64_t id = (co_await get(loop, client, "/goodbye")).value().connection;
    EXPECT_EQ(stream.value().connection, id);
    EXPECT_EQ(error_text(co_await in_time(loop, send(client, Request{.target = "/pinned", .connection = id}))),
              fmt::format("connection {} to {} is gone", id, address_of(server)));
  });
}

TEST(Client, EndsWhatIsUnderWayWhenItIsClosed) {
  RealLoop loop;
  H2TestServer server(loop, [&](H2Peer& peer, const PeerRequest& request) {
    if (request.path == "/half") peer.begin(request.stream, 200);
  });
  std::optional<Answer> half;
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    half = (co_await client.open({.target = "/half"})).value();
    Scope scope(loop, nullptr);
    Result<Response> unanswered;
    auto one = [](RealLoop& on, Client& with, Result<Response>& result) -> Task<void> {
      result = co_await patch(on, with);
    };
    scope.spawn(one(loop, client, unanswered));
    while (server.peer(0).open_streams() < 2) EXPECT_TRUE(co_await server.peer(0).changed.wait());
    co_await client.close();
    co_await scope.join();
    EXPECT_EQ(error_text(unanswered),
              fmt::format("the request may have been carried out: the connection to {} was closed on this side",
                          address_of(server)));
    EXPECT_EQ(error_text(co_await half->body->read()),
              fmt::format("the connection to {} was closed on this side", address_of(server)));
    EXPECT_EQ(error_text(co_await get(loop, client)), fmt::format("the client of {} is closed", address_of(server)));
  });
}

TEST(Client, RefusesRequestsThatWouldSmuggle) {
  RealLoop loop;
  H2TestServer server(loop, answer_ok);
  tell(loop, server.server(), {}, [&](Client& client) -> Task<void> {
    EXPECT_EQ(error_text(co_await send(client, {.target = "/a b"})), "a request's target is no encoded path");
    EXPECT_EQ(error_text(co_await send(client, {.target = "a"})), "a request's target is no encoded path");
    EXPECT_EQ(error_text(co_await send(client, {.method = "GET /x"})),
              "a request's method has characters that no method has");
    EXPECT_EQ(error_text(co_await send(client, {.headers = {{"a:", "b"}}})),
              "a request's header has a name with characters that no name has");
    EXPECT_EQ(error_text(co_await send(client, {.headers = {{"Authorization", "Bearer x\r\nHost: y"}}})),
              "a request's header Authorization has a control character in its value");
  });
  EXPECT_EQ(server.server().accepted(), 0);
}

}  // namespace
}  // namespace fairlead::http

#include "rpc/internal/grpc_session.h"

#include <gtest/gtest.h>

#include <vector>

#include "rpc/grpc_peer_testing.h"

namespace fairlead::rpc {
namespace {

struct Arrived {
  int32_t call;
  std::string path;
  std::string message;
};

// A session that knows one method, and a client of it.
struct GrpcPair {
  explicit GrpcPair(GrpcSession::Limits limits = {})
      : session(limits,
                {.is_known = [](std::string_view path) { return path == "/s/Known"; },
                 .arrived = [this](int32_t call, std::string path,
                                   std::string message) { arrived.push_back({call, path, std::move(message)}); },
                 .cancelled = [this](int32_t call) { cancelled.push_back(call); }}) {}

  void exchange() { peer.exchange_with(session); }
  GrpcPeer::Reply& reply(int32_t stream) { return peer.replies[stream]; }

  std::vector<Arrived> arrived;
  std::vector<int32_t> cancelled;
  GrpcSession session;
  GrpcPeer peer;
};

TEST(GrpcSession, AnswersACall) {
  GrpcPair pair;
  int32_t stream = pair.peer.call("/s/Known", framed("ping"));
  pair.exchange();
  ASSERT_EQ(pair.arrived.size(), 1u);
  EXPECT_EQ(pair.arrived[0].message, "ping");
  pair.session.answer(stream, "pong");
  pair.exchange();
  GrpcPeer::Reply& reply = pair.reply(stream);
  EXPECT_TRUE(reply.ended);
  EXPECT_EQ(reply.fields[":status"], "200");
  EXPECT_EQ(reply.fields["content-type"], "application/grpc");
  EXPECT_EQ(reply.bytes, framed("pong"));
  EXPECT_EQ(reply.status(), "0");
  EXPECT_TRUE(pair.cancelled.empty());
}

TEST(GrpcSession, EmptyMessagesAreMessages) {
  GrpcPair pair;
  int32_t stream = pair.peer.call("/s/Known", framed(""));
  pair.exchange();
  ASSERT_EQ(pair.arrived.size(), 1u);
  pair.session.answer(stream, "");
  pair.exchange();
  EXPECT_EQ(pair.reply(stream).bytes, framed(""));
  EXPECT_EQ(pair.reply(stream).status(), "0");
}

TEST(GrpcSession, AFailureIsAStatus) {
  GrpcPair pair;
  int32_t stream = pair.peer.call("/s/Known", framed("x"));
  pair.exchange();
  pair.session.answer(stream, std::unexpected(Status{Code::internal, "100% wrong\nand \xc3\xa9"}));
  pair.exchange();
  EXPECT_EQ(pair.reply(stream).status(), "13");
  EXPECT_EQ(pair.reply(stream).fields["grpc-message"], "100%25 wrong%0Aand %C3%A9");
  EXPECT_TRUE(pair.reply(stream).ended);
}

// A client of a stream never ends its side; it must hear that there is no such method all the same.
TEST(GrpcSession, AMethodThatIsNotThereIsRefusedAtOnce) {
  GrpcPair pair;
  int32_t stream = pair.peer.call("/s/Stream", "", false);
  pair.exchange();
  EXPECT_EQ(pair.reply(stream).status(), "12");
  EXPECT_EQ(pair.reply(stream).fields["grpc-message"], "there is no method /s/Stream");
  EXPECT_TRUE(pair.reply(stream).ended);
  EXPECT_TRUE(pair.arrived.empty());
}

TEST(GrpcSession, ACallMaySayHowItsMessagesAreWritten) {
  GrpcPair pair;
  pair.peer.call("/s/Known", framed("ping"), true, "application/grpc+proto");
  pair.exchange();
  ASSERT_EQ(pair.arrived.size(), 1u);
  EXPECT_EQ(pair.arrived[0].message, "ping");
}

TEST(GrpcSession, RefusesWhatIsNotOneMessage) {
  GrpcPair pair;
  int32_t none = pair.peer.call("/s/Known", "");
  int32_t cut = pair.peer.call("/s/Known", framed("ping").substr(0, 7));
  int32_t two = pair.peer.call("/s/Known", framed("a") + framed("b"));
  int32_t compressed = pair.peer.call("/s/Known", framed("a", true));
  int32_t other = pair.peer.call("/s/Known", framed("a"), true, "text/html");
  pair.exchange();
  for (int32_t stream : {none, cut, two, other}) EXPECT_EQ(pair.reply(stream).status(), "13") << stream;
  EXPECT_EQ(pair.reply(compressed).status(), "12");
  EXPECT_TRUE(pair.arrived.empty());
}

TEST(GrpcSession, RefusesAMessageThatIsTooLarge) {
  GrpcPair pair({.message_bytes = size_t{1} << 20});
  int32_t fits = pair.peer.call("/s/Known", framed(std::string(size_t{1} << 20, 'x')));
  int32_t large = pair.peer.call("/s/Known", framed(std::string((size_t{1} << 20) + 1, 'x')));
  pair.exchange();
  ASSERT_EQ(pair.arrived.size(), 1u);
  EXPECT_EQ(pair.arrived[0].call, fits);
  EXPECT_EQ(pair.reply(large).status(), "8");
  EXPECT_EQ(pair.reply(large).fields["grpc-message"], "the message is larger than 1 MiB");
}

TEST(GrpcSession, LargeMessagesPassBothWays) {
  GrpcPair pair;
  std::string large(size_t{40} << 20, 'x');
  int32_t stream = pair.peer.call("/s/Known", framed(large));
  pair.exchange();
  ASSERT_EQ(pair.arrived.size(), 1u);
  EXPECT_EQ(pair.arrived[0].message, large);
  pair.session.answer(stream, large);
  pair.exchange();
  EXPECT_EQ(pair.reply(stream).bytes.size(), large.size() + 5);
  EXPECT_EQ(pair.reply(stream).status(), "0");
}

TEST(GrpcSession, TellsOfACallThatWasGivenUp) {
  GrpcPair pair;
  int32_t first = pair.peer.call("/s/Known", framed("a"));
  int32_t second = pair.peer.call("/s/Known", framed("b"));
  pair.exchange();
  pair.peer.reset(first);
  pair.exchange();
  EXPECT_EQ(pair.cancelled, std::vector<int32_t>{first});
  // An answer comes too late, and the other call is not disturbed.
  pair.session.answer(first, "late");
  pair.session.answer(second, "b");
  pair.exchange();
  EXPECT_EQ(pair.reply(second).bytes, framed("b"));
  EXPECT_EQ(pair.cancelled, std::vector<int32_t>{first});
}

TEST(GrpcSession, AClientThatSpeaksAnotherProtocolLosesTheConnection) {
  GrpcPair pair;
  Result<void> fed = pair.session.feed("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().kind(), ErrorKind::protocol);
}

TEST(GrpcSession, TooManyHeadersCostTheCall) {
  GrpcPair pair({.header_bytes = 300});
  int32_t stream = pair.peer.call("/s/Known" + std::string(400, 'x'), framed("a"));
  int32_t other = pair.peer.call("/s/Known", framed("b"));
  pair.exchange();
  EXPECT_FALSE(pair.reply(stream).ended);
  ASSERT_EQ(pair.arrived.size(), 1u);
  EXPECT_EQ(pair.arrived[0].call, other);
}

}  // namespace
}  // namespace fairlead::rpc

#include "http/client/internal/h2_session.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "async/loop.h"

namespace fairlead::http {
namespace {

std::string frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload) {
  std::string bytes;
  for (int shift : {16, 8, 0}) bytes += static_cast<char>(payload.size() >> shift);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
  return bytes.append(payload);
}

std::string number(uint32_t value) {
  std::string bytes;
  for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift);
  return bytes;
}

const std::string kSettings = frame(NGHTTP2_SETTINGS, 0, 0, "") + frame(NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, "");
const std::string kHead = frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\x88");

struct Exchange {
  VirtualLoop loop;
  H2Session session{loop, {.peer = "peer:1", .scheme = "https", .authority = "peer:1", .prefix = ""}};
  std::shared_ptr<H2Stream> stream = session.submit(std::make_shared<Request>());
  std::string output;

  Exchange() { session.take_output(output, 1 << 20); }
  Result<void> feed(std::string_view bytes) {
    Result<void> fed = session.feed(bytes);
    output.clear();
    if (fed) session.take_output(output, 1 << 20);
    return fed;
  }
};

TEST(H2Session, BeginsWithItsPrefaceAndTheRequest) {
  Exchange exchange;
  EXPECT_TRUE(exchange.output.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
  EXPECT_TRUE(exchange.stream->written);
  EXPECT_EQ(exchange.session.open_streams(), 1);
  EXPECT_EQ(exchange.session.room(), 99);
}

TEST(H2Session, KeepsToTheNumberOfStreamsThatTheServerAllows) {
  Exchange exchange;
  ASSERT_TRUE(exchange.feed(frame(NGHTTP2_SETTINGS, 0, 0, std::string("\0\3", 2) + number(3))));
  EXPECT_EQ(exchange.session.room(), 2);
  ASSERT_TRUE(exchange.feed(frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM, 1, "\x88")));
  EXPECT_EQ(exchange.session.room(), 3);
  EXPECT_EQ(exchange.stream->status, 200);
  EXPECT_TRUE(exchange.stream->ended);
  EXPECT_FALSE(exchange.stream->failure);
}

TEST(H2Session, TakesNoMoreThanItsWindow) {
  Exchange exchange;
  ASSERT_TRUE(exchange.feed(kSettings + kHead));
  std::string data = frame(NGHTTP2_DATA, 0, 1, std::string(16384, 'x'));
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(exchange.feed(data));
  EXPECT_EQ(exchange.stream->data.size(), size_t{H2Session::kStreamWindow});
  EXPECT_FALSE(exchange.stream->ended);
  ASSERT_TRUE(exchange.feed(data));
  ASSERT_TRUE(exchange.stream->failure);
  EXPECT_EQ(exchange.stream->failure->error.message(), "the answer of peer:1 does not keep to HTTP/2");
  EXPECT_EQ(exchange.stream->data.size(), size_t{H2Session::kStreamWindow});
}

TEST(H2Session, OpensTheWindowWhenDataIsTaken) {
  Exchange exchange;
  ASSERT_TRUE(exchange.feed(kSettings + kHead));
  std::string data = frame(NGHTTP2_DATA, 0, 1, std::string(16384, 'x'));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(exchange.feed(data));
    EXPECT_EQ(exchange.session.take_data(*exchange.stream).size(), 16384);
    exchange.session.take_output(exchange.output, 1 << 20);
  }
  EXPECT_FALSE(exchange.stream->ended);
}

TEST(H2Session, BoundsHeadersThatUnpackToMany) {
  Exchange exchange;
  // One header of 4,000 bytes goes into the table; each further byte on the wire is that header again.
  std::string block = std::string("\x88\x40\x01x\x7f\xa1\x1e", 7) + std::string(4000, 'v') + std::string(1000, '\xbe');
  ASSERT_TRUE(exchange.feed(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, block)));
  ASSERT_TRUE(exchange.stream->failure);
  EXPECT_EQ(exchange.stream->failure->error.message(), "the headers of the answer have more than 262144 bytes");
  EXPECT_EQ(exchange.stream->failure->error.kind(), ErrorKind::limit);
  EXPECT_EQ(exchange.session.open_streams(), 0);
  EXPECT_FALSE(exchange.session.violation());
}

TEST(H2Session, BoundsAnswersThatWaitToBeSent) {
  Exchange exchange;
  ASSERT_TRUE(exchange.session.feed(kSettings));
  std::string pings;
  for (int i = 0; i < 2000; ++i) pings += frame(NGHTTP2_PING, 0, 0, "12345678");
  Result<void> fed = exchange.session.feed(pings);
  ASSERT_FALSE(fed);
  EXPECT_EQ(fed.error().message(), "peer:1 floods the connection with frames that want an answer");
}

TEST(H2Session, TellsWhatWasNeverProcessed) {
  Exchange exchange;
  auto second = exchange.session.submit(std::make_shared<Request>());
  exchange.session.take_output(exchange.output, 1 << 20);
  ASSERT_TRUE(exchange.feed(kSettings + frame(NGHTTP2_GOAWAY, 0, 0, number(1) + number(0))));
  ASSERT_TRUE(second->failure);
  EXPECT_EQ(second->failure->delivery, Delivery::never);
  EXPECT_EQ(second->failure->error.message(), "peer:1 did not take the request");
  EXPECT_FALSE(exchange.stream->ended);
  EXPECT_EQ(exchange.session.room(), 0);
  // The library sees to that room() by itself, but not to what a connection is to do about a goodbye.
  EXPECT_TRUE(exchange.session.draining());
  exchange.session.fail_all(Error(ErrorKind::unavailable, "gone"));
  ASSERT_TRUE(exchange.stream->failure);
  EXPECT_EQ(exchange.stream->failure->delivery, Delivery::unknown);
}

TEST(H2Session, TellsWhatWasNeverWritten) {
  Exchange exchange;
  auto large = std::make_shared<Request>();
  large->headers.set("Authorization", std::string(100'000, 'x'));
  auto second = exchange.session.submit(large);
  ASSERT_TRUE(exchange.feed(kSettings));
  ASSERT_TRUE(second->failure);
  EXPECT_FALSE(second->written);
  EXPECT_EQ(second->failure->delivery, Delivery::never);
  EXPECT_EQ(second->failure->error.message(), "peer:1 did not take the request");
  EXPECT_FALSE(exchange.stream->ended);

  auto third = exchange.session.submit(std::make_shared<Request>());
  ASSERT_TRUE(exchange.feed(frame(NGHTTP2_GOAWAY, 0, 0, number(1) + number(0))));
  ASSERT_TRUE(third->failure);
  EXPECT_FALSE(third->written);
  EXPECT_EQ(third->failure->delivery, Delivery::never);
}

TEST(H2Session, TakesBackWhatWasNotSentYet) {
  Exchange exchange;
  auto second = exchange.session.submit(std::make_shared<Request>());
  exchange.session.cancel(*second);
  exchange.output.clear();
  exchange.session.take_output(exchange.output, 1 << 20);
  EXPECT_EQ(exchange.session.open_streams(), 1);
  EXPECT_FALSE(second->written);
}

}  // namespace
}  // namespace fairlead::http

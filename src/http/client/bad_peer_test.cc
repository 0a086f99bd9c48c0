// Servers that do not keep to HTTP/2, by mistake or on purpose: a clear error, in bounded time and memory.
#include <nghttp2/nghttp2.h>

#include "http/client/client_testing.h"

namespace fairlead::http {
namespace {

using namespace std::chrono_literals;

std::string frame(uint8_t type, uint8_t flags, uint32_t stream, std::string_view payload,
                  std::optional<size_t> says = {}) {
  size_t length = says.value_or(payload.size());
  std::string bytes;
  for (int shift : {16, 8, 0}) bytes += static_cast<char>(length >> shift);
  bytes += static_cast<char>(type);
  bytes += static_cast<char>(flags);
  for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(stream >> shift);
  bytes += payload;
  return bytes;
}

const std::string kSettings = frame(NGHTTP2_SETTINGS, 0, 0, "");

std::string repeated(std::string_view text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

// What a PATCH to a server meets that answers any request with these bytes.
std::string outcome(std::string bytes, bool closes = false) {
  RealLoop loop;
  TestServer server(loop, TestServer::Tls(), [&](std::unique_ptr<Stream> stream) -> Task<void> {
    std::string buffer(65536, '\0');
    if (!co_await stream->read(buffer.data(), buffer.size())) co_return;
    (void)co_await stream->write(bytes);
    while (!closes) {
      auto n = co_await stream->read(buffer.data(), buffer.size());
      if (!n || *n == 0) co_return;
    }
  });
  std::string text;
  tell(loop, server, {.ping_after = 50ms, .ping_timeout = 50ms}, [&](Client& client) -> Task<void> {
    text = error_text(
        co_await with_deadline(loop, loop.now() + 20s, "no error at all", send(client, {.method = "PATCH"})));
  });
  std::string port = fmt::format("127.0.0.1:{}", server.port());
  for (size_t at; (at = text.find(port)) != std::string::npos;) text.replace(at, port.size(), "SERVER");
  return text;
}

const std::string kMaybe = "the request may have been carried out: ";

TEST(BadPeer, SpeaksSomethingElse) {
  EXPECT_EQ(
      outcome("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nno HTTP/2 here, sorry"),
      kMaybe +
          "SERVER does not keep to HTTP/2: Remote peer returned unexpected data while we expected SETTINGS frame.  "
          "Perhaps, peer does not support HTTP/2 properly.");
  EXPECT_TRUE(outcome(repeated("\xde\xad\xbe\xef", 1000)).starts_with(kMaybe + "SERVER does not keep to HTTP/2"));
  EXPECT_TRUE(outcome(std::string(1000, '\0')).starts_with(kMaybe + "SERVER does not keep to HTTP/2"));
}

TEST(BadPeer, SaysNothing) { EXPECT_EQ(outcome(kSettings), kMaybe + "SERVER gives no sign of life"); }

TEST(BadPeer, HangsUp) {
  EXPECT_EQ(outcome(kSettings, true), kMaybe + "SERVER closed the connection");
  EXPECT_EQ(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\x88").substr(0, 8), true),
            kMaybe + "SERVER closed the connection");
}

TEST(BadPeer, CutsABodyOff) {
  // :status 200, then a part of the body: the answer is there, and its body is not.
  EXPECT_EQ(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\x88") +
                        frame(NGHTTP2_DATA, 0, 1, "half"),
                    true),
            "SERVER closed the connection");
}

TEST(BadPeer, SendsFramesThatAreTooLarge) {
  EXPECT_EQ(outcome(kSettings + frame(NGHTTP2_DATA, 0, 1, std::string(100, 'x'), 0xffffff)),
            kMaybe + "SERVER does not keep to HTTP/2: too large frame size");
}

TEST(BadPeer, SendsBrokenHeaders) {
  EXPECT_TRUE(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, std::string(100, '\xff')))
                  .starts_with(kMaybe + "SERVER does not keep to HTTP/2"));
  // A header with an upper-case name: only that answer is broken.
  EXPECT_TRUE(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, "\x88\x10\x01X\x01y"))
                  .starts_with(kMaybe + "the answer of SERVER does not keep to HTTP/2"));
  // No status at all.
  EXPECT_TRUE(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 1, std::string("\x10\x01x\x01y")))
                  .starts_with(kMaybe + "the answer of SERVER does not keep to HTTP/2"));
}

TEST(BadPeer, SendsHeadersWithoutEnd) {
  // A literal header with a value of 16,000 bytes, again and again.
  std::string value(16'000, 'v');
  std::string header = std::string("\x10\x01x\x7f", 4) + "\x81\x7c" + value;
  std::string first = frame(NGHTTP2_HEADERS, 0, 1, "\x88");
  EXPECT_TRUE(outcome(kSettings + first + repeated(frame(NGHTTP2_CONTINUATION, 0, 1, header), 6) +
                      repeated(frame(NGHTTP2_CONTINUATION, 0, 1, ""), 1000))
                  .starts_with(kMaybe + "SERVER does not keep to HTTP/2"));
}

TEST(BadPeer, AnswersTheWrongStream) {
  EXPECT_TRUE(outcome(kSettings + frame(NGHTTP2_HEADERS, NGHTTP2_FLAG_END_HEADERS, 7, "\x88"))
                  .starts_with(kMaybe + "SERVER does not keep to HTTP/2"));
}

TEST(BadPeer, PushesWhatNobodyWants) {
  EXPECT_EQ(
      outcome(kSettings + frame(NGHTTP2_PUSH_PROMISE, NGHTTP2_FLAG_END_HEADERS, 1, std::string("\0\0\0\2\x82", 5))),
      kMaybe + "SERVER gives no sign of life");
}

TEST(BadPeer, FloodsWithPingsButGivesNoAnswer) {
  RealLoop loop;
  std::string pings = repeated(frame(NGHTTP2_PING, 0, 0, "12345678"), 1000);
  TestServer server(loop, TestServer::Tls(), [&](std::unique_ptr<Stream> stream) -> Task<void> {
    if (!co_await stream->write(kSettings)) co_return;
    while (co_await stream->write(pings)) continue;
  });
  tell(loop, server, {}, [&](Client& client) -> Task<void> {
    Result<Response> result =
        co_await with_deadline(loop, loop.now() + 200ms, "the caller's deadline", send(client, {.method = "PATCH"}));
    // Either the answers pile up beyond what the session takes, or the caller's deadline ends it: never a hang.
    std::string text = error_text(result);
    EXPECT_TRUE(text == "the caller's deadline" || text.contains("floods the connection")) << text;
  });
}

}  // namespace
}  // namespace fairlead::http

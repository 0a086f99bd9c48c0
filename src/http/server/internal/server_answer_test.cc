#include "http/server/internal/server_answer.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

constexpr std::string_view kDate = "Sun, 06 Nov 1994 08:49:37 GMT";

std::string head(int status, const Headers& headers, Framing framing, std::string_view connection = "") {
  std::string out;
  append_head(out, status, headers, framing, connection, kDate);
  return out;
}

TEST(ServerAnswer, HeadSaysHowTheBodyEnds) {
  EXPECT_EQ(head(200, {{"Content-Type", "text/plain"}}, {Framing::Kind::length, 5}),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Type: text/plain\r\nContent-Length: "
            "5\r\n\r\n");
  EXPECT_EQ(head(200, {}, {Framing::Kind::chunked}),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nTransfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(head(299, {}, {Framing::Kind::until_close}, "close"),
            "HTTP/1.1 299 \r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: close\r\n\r\n");
}

TEST(ServerAnswer, LeavesOutWhatIsTheServersOwnAndWhatBreaksOut) {
  EXPECT_EQ(head(204,
                 {{"connection", "upgrade"},
                  {"Transfer-Encoding", "gzip"},
                  {"Content-Length", "7"},
                  {"A", "b\r\nSet-Cookie: x"},
                  {"B C", "d"},
                  {"", "e"},
                  {"F", ""},
                  {"G", "caf\xc3\xa9"}},
                 {}),
            "HTTP/1.1 204 No Content\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nF: \r\nG: caf\xc3\xa9\r\n\r\n");
}

TEST(ServerAnswer, FramingFollowsStatusVersionAndLength) {
  EXPECT_EQ(framing_of(204, false, 3).kind, Framing::Kind::none);
  EXPECT_EQ(framing_of(304, false, std::nullopt).kind, Framing::Kind::none);
  EXPECT_EQ(framing_of(200, true, 3).kind, Framing::Kind::length);
  EXPECT_EQ(framing_of(200, true, std::nullopt).kind, Framing::Kind::until_close);
  EXPECT_EQ(framing_of(200, false, std::nullopt).kind, Framing::Kind::chunked);
}

TEST(ServerAnswer, PiecesAreChunksOnlyWhereTheyShould) {
  std::string out;
  append_piece(out, {Framing::Kind::chunked}, "hello, wide world");
  append_piece(out, {Framing::Kind::chunked}, "");
  append_end(out, {Framing::Kind::chunked});
  EXPECT_EQ(out, "11\r\nhello, wide world\r\n0\r\n\r\n");
  out.clear();
  append_piece(out, {Framing::Kind::length, 5}, "hello");
  append_end(out, {Framing::Kind::length, 5});
  EXPECT_EQ(out, "hello");
}

TEST(ServerAnswer, ReadsThePromisedLength) {
  EXPECT_EQ(promised_length({{"content-length", "12"}}), 12u);
  EXPECT_EQ(promised_length({{"content-length", "12x"}}), std::nullopt);
  EXPECT_EQ(promised_length({{"content-length", "99999999999999999999"}}), std::nullopt);
  EXPECT_EQ(promised_length({}), std::nullopt);
}

TEST(ServerAnswer, WritesDates) {
  EXPECT_EQ(date_header(784111777), kDate);
  EXPECT_EQ(date_header(0), "Thu, 01 Jan 1970 00:00:00 GMT");
}

}  // namespace
}  // namespace fairlead::http

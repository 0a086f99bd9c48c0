#include "http/client/internal/h1_parser.h"

#include <gtest/gtest.h>

namespace fairlead::http {
namespace {

struct Parsed {
  int status = 0;
  std::string content_type;
  std::string body;
  bool ended = false;
  bool keeps_alive = false;
  std::string error;
};

Parsed parse(std::string_view text, size_t piece, bool without_body = false, bool ends = false) {
  H1Parser parser("peer:1", without_body);
  Parsed parsed;
  Result<void> fed;
  for (size_t i = 0; i < text.size() && fed; i += piece) {
    fed = parser.feed(text.substr(i, piece));
    parsed.body += parser.take_data();
  }
  if (fed && ends) fed = parser.feed_end();
  if (!fed) parsed.error = fed.error().message();
  parsed.ended = parser.ended();
  parsed.keeps_alive = parser.keeps_alive();
  if (parser.has_head()) {
    parsed.status = parser.status();
    Headers headers = parser.take_headers();
    parsed.content_type = headers.find("content-type").value_or("");
  }
  return parsed;
}

TEST(H1Parser, TakesAnswersInAnyPieces) {
  for (size_t piece : {1u, 3u, 1000u}) {
    Parsed sized = parse("HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Length: 5\r\n\r\nhello", piece);
    EXPECT_EQ(sized.error, "");
    EXPECT_EQ(sized.status, 200);
    EXPECT_EQ(sized.content_type, "a");
    EXPECT_EQ(sized.body, "hello");
    EXPECT_TRUE(sized.ended && sized.keeps_alive);
    Parsed chunked = parse(
        "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nX-Trailer: "
        "1\r\n\r\n",
        piece);
    EXPECT_EQ(chunked.error, "");
    EXPECT_EQ(chunked.body, "hello world");
    EXPECT_TRUE(chunked.ended && chunked.keeps_alive);
  }
}

TEST(H1Parser, PassesOverProvisionalAnswers) {
  for (size_t piece : {1u, 1000u}) {
    Parsed parsed = parse(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
        "2\r\n\r\nok",
        piece);
    EXPECT_EQ(parsed.error, "");
    EXPECT_EQ(parsed.status, 200);
    EXPECT_EQ(parsed.body, "ok");
    EXPECT_TRUE(parsed.ended);
  }
}

TEST(H1Parser, KnowsWhereABodyEnds) {
  Parsed until_end = parse("HTTP/1.1 200 OK\r\n\r\nall of it", 4, false, true);
  EXPECT_EQ(until_end.body, "all of it");
  EXPECT_TRUE(until_end.ended);
  EXPECT_FALSE(until_end.keeps_alive);
  EXPECT_TRUE(parse("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", 100, true).ended);
  EXPECT_TRUE(parse("HTTP/1.1 204 No Content\r\n\r\n", 100).ended);
  EXPECT_FALSE(parse("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 100).keeps_alive);
  EXPECT_FALSE(parse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 100).keeps_alive);
}

TEST(H1Parser, SaysWhatIsWrong) {
  EXPECT_EQ(parse("", 1, false, true).error, "peer:1 closed the connection");
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Le", 100, false, true).error, "peer:1 closed the connection");
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 100, false, true).error,
            "peer:1 closed the connection");
  EXPECT_EQ(parse("SSH-2.0-OpenSSH_9.2\r\n", 100).error, "the answer of peer:1 is no HTTP/1.1: bad version");
  EXPECT_EQ(parse("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK", 100).error,
            "peer:1 sends more than it was asked for");
  EXPECT_EQ(parse("HTTP/1.1 101 Switching Protocols\r\n\r\n", 100).error,
            "peer:1 switches to a protocol that it was not asked for");
  EXPECT_EQ(parse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", 100).error,
            "the answer of peer:1 is no HTTP/1.1: multiple Content-Length");
  std::string endless = "HTTP/1.1 200 OK\r\n";
  while (endless.size() < 400'000) endless += "X-Header: " + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(parse(endless, 65536).error, "the headers of the answer have more than 262144 bytes");
  std::string extension = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(1'000'000, 'x');
  EXPECT_FALSE(parse(extension, 65536).error.empty());
}

}  // namespace
}  // namespace fairlead::http

// Bytes as if from a server, into the HTTP/2 session and the HTTP/1.1 parser. The first byte chooses.
#include <cstdint>
#include <cstdlib>

#include "async/loop.h"
#include "http/client/internal/h1_parser.h"
#include "http/client/internal/h2_session.h"
#include "http/gzip.h"

namespace fairlead::http {
namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

// Pieces of changing size, so that no boundary is always in the same place.
template <class Feed>
void in_pieces(std::string_view bytes, Feed feed) {
  size_t size = 1;
  while (!bytes.empty()) {
    size_t n = std::min(size, bytes.size());
    if (!feed(bytes.substr(0, n))) return;
    bytes.remove_prefix(n);
    size = size * 3 % 1021 + 1;
  }
}

void into_http2(std::string_view bytes) {
  VirtualLoop loop;
  H2Session session(loop, {.peer = "peer", .scheme = "https", .authority = "peer", .prefix = ""});
  std::vector<std::shared_ptr<H2Stream>> streams;
  auto request = std::make_shared<Request>(Request{.method = "PATCH", .body = std::string(100'000, 'x')});
  for (int i = 0; i < 4; ++i) streams.push_back(session.submit(request));
  std::string output;
  session.take_output(output, 1 << 20);
  in_pieces(bytes, [&](std::string_view piece) {
    bool goes_on = session.feed(piece).has_value();
    output.clear();
    if (goes_on) session.take_output(output, 1 << 20);
    for (auto& stream : streams) {
      must(stream->data.size() <= size_t{H2Session::kStreamWindow});
      must(stream->header_bytes <= H2Session::kMaxHeaderBytes + 70'000);
      if (stream->data.size() > 10) session.take_data(*stream);
    }
    if (goes_on && streams[3]->has_head) session.cancel(*streams[3]);
    return goes_on && !session.violation();
  });
  session.fail_all(Error(ErrorKind::unavailable, "the end"));
  for (auto& stream : streams) must(stream->ended);
}

void into_http1(std::string_view bytes, bool without_body) {
  H1Parser parser("peer", without_body);
  bool good = true;
  in_pieces(bytes, [&](std::string_view piece) {
    size_t before = piece.size();
    good = parser.feed(piece).has_value();
    must(parser.take_data().size() <= before + 2 * size_t{H1Parser::kMaxHeaderBytes});
    return good && !parser.ended();
  });
  if (good) (void)parser.feed_end();
  if (parser.has_head()) (void)parser.take_headers();
}

void into_gzip(std::string_view bytes) {
  VirtualLoop loop;
  auto body = gunzip(body_of(std::string(bytes)));
  for (int i = 0; i < 100; ++i) {
    auto piece = loop.run(body->read());
    if (!piece || !*piece) return;
    must(!(*piece)->empty());
  }
}

}  // namespace
}  // namespace fairlead::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case '2': fairlead::http::into_http2(bytes); break;
    case '1': fairlead::http::into_http1(bytes, false); break;
    case 'h': fairlead::http::into_http1(bytes, true); break;
    case 'z': fairlead::http::into_gzip(bytes); break;
    default: break;
  }
  return 0;
}

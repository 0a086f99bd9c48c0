#include "http/client/internal/h1_parser.h"

#include <boost/beast/http/basic_parser.hpp>

namespace fairlead::http {

namespace beast = boost::beast::http;
using boost::system::error_code;

class H1Parser::Beast final : public beast::basic_parser<false> {
 public:
  int status = 0;
  Headers headers;
  std::string data;

 private:
  using Text = boost::beast::string_view;

  void on_request_impl(beast::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int code, Text, int, error_code&) override { status = code; }
  void on_field_impl(beast::field, Text name, Text value, error_code&) override {
    if (is_header_done()) return;  // trailers: nobody asks for them
    headers.add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text piece, error_code&) override {
    data.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, error_code&) override {
    data.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(error_code&) override {}
};

namespace {

constexpr size_t kMaxRest = 2 * size_t{H1Parser::kMaxHeaderBytes};

}  // namespace

H1Parser::H1Parser(std::string peer, bool without_body) : peer_(std::move(peer)), without_body_(without_body) {
  beast_ = std::make_unique<Beast>();
  beast_->eager(true);
  beast_->header_limit(kMaxHeaderBytes);
  beast_->body_limit(boost::none);
  beast_->skip(without_body);
}

H1Parser::~H1Parser() = default;

Result<void> H1Parser::feed(std::string_view bytes) {
  if (ended()) return fail(ErrorKind::protocol, "{} sends more than it was asked for", peer_);
  rest_.append(bytes);
  std::string_view input = rest_;
  while (!input.empty() && !ended()) {
    error_code code;
    size_t n = beast_->put(boost::asio::const_buffer(input.data(), input.size()), code);
    input.remove_prefix(n);
    if (code == beast::error::need_more) break;
    if (code == beast::error::header_limit)
      return fail(ErrorKind::limit, "the headers of the answer have more than {} bytes", kMaxHeaderBytes);
    if (code)
      return fail(
          Error(ErrorKind::protocol, fmt::format("the answer of {} is no HTTP/1.1", peer_)).because(code.message()));
    bool provisional = beast_->is_header_done() && beast_->status / 100 == 1;
    if (provisional && beast_->status == 101)
      return fail(ErrorKind::protocol, "{} switches to a protocol that it was not asked for", peer_);
    if (provisional) {
      std::string kept(input);
      // A parser is good for one answer.
      H1Parser next(peer_, without_body_);
      std::swap(beast_, next.beast_);
      rest_ = std::move(kept);
      input = rest_;
      continue;
    }
    if (n == 0) break;
  }
  rest_.erase(0, rest_.size() - input.size());
  if (ended() && !rest_.empty()) return fail(ErrorKind::protocol, "{} sends more than it was asked for", peer_);
  if (rest_.size() > kMaxRest) return fail(ErrorKind::limit, "the answer of {} has a line without an end", peer_);
  return {};
}

Result<void> H1Parser::feed_end() {
  if (ended()) return {};
  error_code code;
  // Beast takes an end before the first byte for a clean one: for an answer it is not.
  if (beast_->got_some()) beast_->put_eof(code);
  if (!beast_->got_some() || code || !ended()) return fail(ErrorKind::unavailable, "{} closed the connection", peer_);
  return {};
}

bool H1Parser::has_head() const { return beast_->is_header_done(); }
bool H1Parser::ended() const { return beast_->is_done(); }
bool H1Parser::keeps_alive() const { return beast_->is_done() && beast_->keep_alive(); }
int H1Parser::status() const { return beast_->status; }
Headers H1Parser::take_headers() { return std::move(beast_->headers); }
std::string H1Parser::take_data() { return std::exchange(beast_->data, {}); }

}  // namespace fairlead::http

#include "http/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "async/loop.h"

namespace fairlead::http {
namespace {

std::string gzip(std::string_view text) {
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string result(deflateBound(&state, text.size()), '\0');
  std::string input(text);
  state.next_in = reinterpret_cast<Bytef*>(input.data());
  state.avail_in = static_cast<uInt>(input.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  result.resize(state.total_out);
  deflateEnd(&state);
  return result;
}

// Gives its text in pieces of that size.
class Pieces final : public Body {
 public:
  Pieces(std::string text, size_t size) : text_(std::move(text)), size_(size) {}
  Task<Result<std::optional<std::string>>> read() override {
    if (text_.empty()) co_return std::nullopt;
    std::string piece = text_.substr(0, size_);
    text_.erase(0, size_);
    co_return std::optional(std::move(piece));
  }

 private:
  std::string text_;
  size_t size_;
};

class Fixed final : public Transport {
 public:
  explicit Fixed(std::unique_ptr<Body> body) : body_(std::move(body)) {}
  Task<Result<Answer>> open(Request) override { co_return Answer{.body = std::move(body_)}; }

 private:
  std::unique_ptr<Body> body_;
};

Result<std::string> unpacked(std::string compressed, size_t piece, size_t max_body = size_t{1} << 30) {
  VirtualLoop loop;
  Fixed transport(gunzip(std::make_unique<Pieces>(std::move(compressed), piece)));
  Result<Response> response = loop.run(send(transport, {}, max_body));
  if (!response) return std::unexpected(response.error());
  return response->body;
}

std::string noise(size_t size) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < size) text += fmt::format("{:x}", state = state * 1664525 + 1013904223);
  return text;
}

TEST(Gzip, GivesBackWhatWasPacked) {
  std::string text = noise(300'000);
  for (size_t piece : {1u, 7u, 65536u, 1u << 20}) EXPECT_EQ(unpacked(gzip(text), piece).value(), text);
  EXPECT_EQ(unpacked(gzip(std::string(65536, 'x')), 1 << 20).value(), std::string(65536, 'x'));
  EXPECT_EQ(unpacked(gzip(""), 100).value(), "");
  EXPECT_EQ(unpacked("", 100).value(), "");
}

TEST(Gzip, TakesSeveralMembers) {
  for (size_t piece : {1u, 1000u}) EXPECT_EQ(unpacked(gzip("one ") + gzip("two"), piece).value(), "one two");
}

TEST(Gzip, ABombMeetsTheLimitOfTheBody) {
  std::string bomb = gzip(std::string(size_t{64} << 20, '\0'));
  ASSERT_LT(bomb.size(), 100'000);
  Result<std::string> result = unpacked(bomb, bomb.size(), 1'000'000);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::limit);
  EXPECT_EQ(result.error().message(), "the answer has more than 1000000 bytes");
}

TEST(Gzip, SaysWhatIsWrong) {
  std::string packed = gzip("hello, hello, hello");
  EXPECT_EQ(unpacked(packed.substr(0, packed.size() - 3), 10).error().message(), "the compressed body ends too early");
  EXPECT_EQ(unpacked("{\"kind\":\"Status\"}", 10).error().message(), "the body is said to be gzip, and is not");
  packed[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_EQ(unpacked(packed, 10).error().message(), "the body is said to be gzip, and is not");
}

}  // namespace
}  // namespace fairlead::http

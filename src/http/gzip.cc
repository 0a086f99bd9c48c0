#include "http/gzip.h"

#include <zlib.h>

namespace fairlead::http {
namespace {

constexpr size_t kPiece = size_t{64} << 10;

class Gunzip final : public Body {
 public:
  explicit Gunzip(std::unique_ptr<Body> compressed) : compressed_(std::move(compressed)) {}
  ~Gunzip() override {
    if (started_) inflateEnd(&state_);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  Task<Result<std::optional<std::string>>> read() override {
    if (!started_) {
      // 15: the largest window; 16: gzip and nothing else.
      if (inflateInit2(&state_, 15 + 16) != Z_OK) co_return fail(ErrorKind::internal, "zlib does not start");
      started_ = true;
    }
    while (true) {
      if (state_.avail_in == 0 && !out_of_room_) {
        CO_TRY_ASSIGN(std::optional<std::string> more, co_await compressed_->read());
        if (!more) {
          // No bytes at all are an empty body, whatever the header says.
          if (member_ended_ || !any_) co_return std::nullopt;
          co_return fail(ErrorKind::protocol, "the compressed body ends too early");
        }
        any_ = true;
        input_ = std::move(*more);
        state_.next_in = reinterpret_cast<Bytef*>(input_.data());
        state_.avail_in = static_cast<uInt>(input_.size());
      }
      CO_TRY_ASSIGN(std::string piece, inflate_some());
      if (!piece.empty()) co_return std::optional(std::move(piece));
    }
  }

 private:
  Result<std::string> inflate_some() {
    // Several members after each other are one body.
    if (member_ended_ && inflateReset(&state_) != Z_OK) return fail(ErrorKind::internal, "zlib does not start again");
    member_ended_ = false;
    std::string piece(kPiece, '\0');
    state_.next_out = reinterpret_cast<Bytef*>(piece.data());
    state_.avail_out = static_cast<uInt>(piece.size());
    int outcome = inflate(&state_, Z_NO_FLUSH);
    if (outcome == Z_STREAM_END) {
      member_ended_ = true;
    } else if (outcome != Z_OK && outcome != Z_BUF_ERROR) {
      return fail(ErrorKind::protocol, "the body is said to be gzip, and is not");
    }
    out_of_room_ = state_.avail_out == 0 && !member_ended_;
    piece.resize(kPiece - state_.avail_out);
    return piece;
  }

  std::unique_ptr<Body> compressed_;
  std::string input_;
  z_stream state_{};
  bool started_ = false;
  bool any_ = false;
  bool member_ended_ = false;
  // The last piece was full: there may be more without further input.
  bool out_of_room_ = false;
};

}  // namespace

std::unique_ptr<Body> gunzip(std::unique_ptr<Body> compressed) {
  return std::make_unique<Gunzip>(std::move(compressed));
}

}  // namespace fairlead::http

#include "history/compress.h"

#include <zlib.h>

#include <algorithm>
#include <array>

namespace fairlead::history {
namespace {

// 15 bits of window, and 16 for the header of gzip.
constexpr int kGzip = 15 + 16;
constexpr int kMemory = 8;

Bytef* bytes_of(std::string_view text) {
  // zlib only reads them.
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string compress(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string result(deflateBound(&stream, text.size()), '\0');
  stream.next_in = bytes_of(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(result.data());
  stream.avail_out = static_cast<uInt>(result.size());
  deflate(&stream, Z_FINISH);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

Result<std::string> uncompress(std::string_view compressed, size_t max) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) return fail(ErrorKind::internal, "gzip cannot be read");
  stream.next_in = bytes_of(compressed);
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string result;
  std::array<char, 65536> piece{};
  int state = Z_OK;
  while (state == Z_OK && result.size() <= max) {
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    state = inflate(&stream, Z_NO_FLUSH);
    result.append(piece.data(), piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (result.size() > max) return fail(ErrorKind::limit, "it would have more than {} bytes", max);
  if (state != Z_STREAM_END) return fail(ErrorKind::protocol, "it is no gzip, or is cut short");
  return result;
}

}  // namespace fairlead::history

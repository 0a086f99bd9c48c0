#include "yaml/internal/decode.h"

namespace fairlead::yaml {
namespace {

void append_utf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr uint32_t kLead[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(kLead[more] | code >> (6 * more));
  while (more-- > 0) out += static_cast<char>(0x80 | (code >> (6 * more) & 0x3f));
}

}  // namespace

Result<std::string_view> decode(std::string_view bytes, std::string_view name, std::string& converted) {
  if (bytes.starts_with("\xef\xbb\xbf")) return bytes.substr(3);
  bool little = bytes.starts_with("\xff\xfe");
  if (!little && !bytes.starts_with("\xfe\xff")) return bytes;

  auto broken = [&](std::string_view why) {
    size_t line = 1;
    for (char c : converted) line += c == '\n';
    return fail(
        Error(ErrorKind::invalid, fmt::format("not valid UTF-16: {}", why)).at(fmt::format("{}:{}", name, line)));
  };
  auto unit = [&](size_t at) {
    auto byte = [&](size_t i) { return uint32_t{static_cast<unsigned char>(bytes[i])}; };
    return little ? byte(at) | byte(at + 1) << 8 : byte(at) << 8 | byte(at + 1);
  };
  converted.clear();
  converted.reserve(bytes.size());
  if (bytes.size() % 2 != 0) return broken("it ends within a character");
  for (size_t at = 2; at < bytes.size(); at += 2) {
    uint32_t code = unit(at);
    if (code >= 0xd800 && code < 0xe000) {
      uint32_t low = at + 2 < bytes.size() ? unit(at + 2) : 0;
      if (code >= 0xdc00 || low < 0xdc00 || low >= 0xe000) return broken("half of a surrogate pair is missing");
      code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
      at += 2;
    }
    append_utf8(converted, code);
  }
  return std::string_view(converted);
}

}  // namespace fairlead::yaml

#include "base/go_quoted.h"

#include <fmt/format.h>

namespace fairlead {

std::string go_quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\a': out += "\\a"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\v': out += "\\v"; break;
      default:
        if (byte < 0x20 || byte == 0x7F) out += fmt::format("\\x{:02x}", byte);
        else out += c;
    }
  }
  return out + '"';
}

}  // namespace fairlead

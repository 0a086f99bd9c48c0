#include "schema/validation/internal/string_format.h"

#include <arpa/inet.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "fields/managed_fields.h"

namespace fairlead::schema {
namespace {

bool matches(std::string_view text, const char* pattern) {
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool is_address(int family, std::string_view text) {
  std::array<unsigned char, 16> address;
  return text.find('\0') == std::string_view::npos && inet_pton(family, std::string(text).c_str(), address.data()) == 1;
}

bool is_cidr(std::string_view text) {
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  std::string_view address = text.substr(0, slash), bits = text.substr(slash + 1);
  int length = 0;
  auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), length);
  if (error != std::errc() || end != bits.data() + bits.size() || length < 0 || bits.starts_with('-')) return false;
  return (is_address(AF_INET, address) && length <= 32) || (is_address(AF_INET6, address) && length <= 128);
}

bool is_date(std::string_view text) {
  return text.size() == 10 && fields::parse_time(std::string(text) + "T00:00:00Z").has_value();
}

}  // namespace

std::optional<bool> has_format(std::string_view format, std::string_view text) {
  // The server does not look at dashes.
  std::string name(format);
  std::erase(name, '-');
  if (name == "datetime") return fields::parse_time(text).has_value();
  if (name == "date") return is_date(text);
  if (name == "ipv4") return is_address(AF_INET, text);
  if (name == "ipv6") return is_address(AF_INET6, text);
  if (name == "cidr") return is_cidr(text);
  if (name == "password") return true;
  if (name == "uuid") return matches(text, "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  if (name == "uuid3") return matches(text, "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  if (name == "uuid4" || name == "uuid5")
    return matches(text, name == "uuid4"
                             ? "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}"
                             : "(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}");
  if (name == "byte")
    return matches(text, "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})");
  if (name == "mac")
    return matches(text,
                   "[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}(?:(?:[:-][0-9A-Fa-f]{2}){2})?|(?:[0-9A-Fa-f]{4}\\.){2,3}[0-"
                   "9A-Fa-f]{4}");
  if (name == "hexcolor") return matches(text, "#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})");
  if (name == "hostname")
    return text.size() <= 255 && matches(text,
                                         "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]"
                                         "{0,61}[a-zA-Z0-9])?)*\\.?");
  if (name == "email") return matches(text, "(?:[^<>@\\s]+\\s+)*<?[^\\s@<>]+@[^\\s@<>]+>?");
  if (name == "uri") return matches(text, "[a-zA-Z][a-zA-Z0-9+.-]*:[^\\s]+|/[^\\s]*");
  if (name == "duration")
    return matches(
        text,
        "[+-]?(?:(?:[0-9]+(?:\\.[0-9]*)?|\\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|[+-]?0|(?i)[0-9]+\\s*(?:ns|nano|nanos|"
        "nanosecond|nanoseconds|us|micro|micros|microsecond|microseconds|ms|milli|millis|millisecond|milliseconds|s|"
        "sec|secs|second|seconds|m|min|mins|minute|minutes|h|hr|hour|hours|d|day|days|w|wk|week|weeks)");
  return std::nullopt;
}

}  // namespace fairlead::schema

#include "object/name.h"

#include <algorithm>

#include "base/printable.h"

namespace fairlead::object {
namespace {

constexpr size_t kNameLength = 63;
constexpr size_t kPrefixLength = 253;

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alphanumeric(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

bool is_qualified_name_part(std::string_view text) {
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_subdomain(std::string_view text) {
  if (text.empty() || text.size() > kPrefixLength) return false;
  while (true) {
    size_t dot = text.find('.');
    std::string_view label = text.substr(0, dot);
    if (label.empty() || !is_lower_or_digit(label.front()) || !is_lower_or_digit(label.back())) return false;
    if (!std::ranges::all_of(label, [](char c) { return is_lower_or_digit(c) || c == '-'; })) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_dns_label(std::string_view text) {
  return text.size() <= kNameLength && is_dns_subdomain(text) && !text.contains('.');
}

// Names come from anywhere, and an error shows them.
std::string quoted(std::string_view text) {
  constexpr size_t kShown = 100;
  return fmt::format("\"{}{}\"", printable_line(text.substr(0, kShown)), text.size() > kShown ? "..." : "");
}

}  // namespace

Result<void> check_path_segment(std::string_view what, std::string_view name) {
  if (name.empty()) return fail(ErrorKind::invalid, "{} is empty", what);
  if (name == "." || name == "..") return fail(ErrorKind::invalid, "{} may not be \"{}\"", what, name);
  for (char c : name) {
    if (c == '/' || c == '%') return fail(ErrorKind::invalid, "{} {} may not contain '{}'", what, quoted(name), c);
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return fail(ErrorKind::invalid, "{} {} may not contain control characters", what, quoted(name));
  }
  return {};
}

Result<void> check_dns_name(std::string_view what, std::string_view name) {
  if (is_dns_subdomain(name)) return {};
  return fail(ErrorKind::invalid,
              "{} {} is no DNS name: it has at most {} lower-case letters, digits, '-' and '.', and each part of it "
              "starts and ends with a letter or digit",
              what, quoted(name), kPrefixLength);
}

Result<void> check_dns_label(std::string_view what, std::string_view name) {
  if (is_dns_label(name)) return {};
  return fail(ErrorKind::invalid,
              "{} {} is no DNS label: it has at most {} lower-case letters, digits and '-', and starts and ends with a "
              "letter or digit",
              what, quoted(name), kNameLength);
}

Result<void> check_namespace(std::string_view name) {
  if (is_dns_label(name)) return {};
  return fail(ErrorKind::invalid,
              "metadata.namespace {} is no namespace: it has at most {} lower-case letters, digits and '-', and starts "
              "and ends with a letter or digit",
              quoted(name), kNameLength);
}

Result<void> check_kind(std::string_view kind) {
  bool is_name =
      kind.size() <= kNameLength && std::ranges::all_of(kind, [](char c) { return is_alphanumeric(c) || c == '-'; });
  if (is_name) return {};
  return fail(ErrorKind::invalid, "kind {} is no kind: it has at most {} letters and digits", quoted(kind),
              kNameLength);
}

std::string percent_encode(std::string_view segment) {
  // What RFC 3986 allows in a segment as it is.
  constexpr std::string_view kPlain = "-._~!$&'()*+,;=:@";
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (char c : segment) {
    if (is_alphanumeric(c) || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      unsigned char byte = static_cast<unsigned char>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

Result<void> check_label_key(std::string_view key) {
  size_t slash = key.find('/');
  std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
  if (slash != std::string_view::npos && !is_dns_subdomain(key.substr(0, slash)))
    return fail(ErrorKind::invalid, "label {}: what comes before '/' must be a DNS name in lower case", quoted(key));
  if (!is_qualified_name_part(name))
    return fail(ErrorKind::invalid,
                "label {}: a name has letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
                quoted(key));
  if (name.size() > kNameLength)
    return fail(ErrorKind::invalid, "label {}: a name has at most {} characters", quoted(key), kNameLength);
  return {};
}

Result<void> check_label_value(std::string_view value) {
  if (value.size() > kNameLength)
    return fail(ErrorKind::invalid, "label value {} has more than {} characters", quoted(value), kNameLength);
  if (!value.empty() && !is_qualified_name_part(value))
    return fail(ErrorKind::invalid,
                "label value {}: it has letters, digits, '-', '_' and '.', and starts and ends with a letter or digit",
                quoted(value));
  return {};
}

}  // namespace fairlead::object

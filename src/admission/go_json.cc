#include "admission/go_json.h"

#include <fmt/format.h>

#include <vector>

namespace fairlead::admission {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string quoted_character(char c) {
  auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '\'': return "'\\''";
    case '"': return "'\"'";
    case '\\': return "'\\\\'";
    case '\a': return "'\\a'";
    case '\b': return "'\\b'";
    case '\f': return "'\\f'";
    case '\n': return "'\\n'";
    case '\r': return "'\\r'";
    case '\t': return "'\\t'";
    case '\v': return "'\\v'";
    default: break;
  }
  if (byte < 0x20 || byte == 0x7F) return fmt::format("'\\x{:02x}'", byte);
  // A byte is taken for the character of that number.
  if (byte < 0x80) return fmt::format("'{}'", c);
  if (byte < 0xA1 || byte == 0xAD)
    return byte < 0xA0 ? fmt::format("'\\u{:04x}'", byte) : fmt::format("'\\u00{:02x}'", byte);
  return fmt::format("'{}{}'", static_cast<char>(0xC0 | byte >> 6), static_cast<char>(0x80 | (byte & 0x3F)));
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    skip_space();
    bool fine = value();
    while (fine && !open_.empty()) fine = next();
    if (!fine) return std::move(error_);
    skip_space();
    if (at_ < text_.size()) invalid("after top-level value");
    return std::move(error_);
  }

 private:
  static constexpr size_t kMaxDepth = 10'000;

  // Past the end there is a space, as in Go: it ends numbers and is wrong in the middle of a word.
  char peek() const { return at_ < text_.size() ? text_[at_] : ' '; }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }

  bool invalid(std::string_view context) {
    error_ = fmt::format("invalid character {} {}", quoted_character(peek()), context);
    return false;
  }
  // Where a space would have been fine, the text just ends too early.
  bool invalid_or_end(std::string_view context) {
    if (at_ < text_.size()) return invalid(context);
    error_ = "unexpected end of JSON input";
    return false;
  }

  bool value() {
    skip_space();
    char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      open_.push_back(c);
      if (open_.size() > kMaxDepth) {
        error_ = "exceeded max depth";
        return false;
      }
      return c == '{' ? first_key() : first_item();
    }
    if (c == '"') return string();
    if (c == '-' || is_digit(c)) return number();
    for (std::string_view word : {"true", "false", "null"})
      if (c == word[0]) return literal(word);
    return invalid_or_end("looking for beginning of value");
  }

  bool first_key() {
    skip_space();
    if (peek() == '}') return close();
    return key();
  }

  bool key() {
    skip_space();
    if (peek() != '"') return invalid_or_end("looking for beginning of object key string");
    if (!string()) return false;
    skip_space();
    if (peek() != ':') return invalid_or_end("after object key");
    ++at_;
    return value();
  }

  bool first_item() {
    skip_space();
    if (peek() == ']') return close();
    return value();
  }

  bool close() {
    ++at_;
    open_.pop_back();
    return true;
  }

  // After a value inside something.
  bool next() {
    skip_space();
    bool object = open_.back() == '{';
    if (peek() == (object ? '}' : ']')) return close();
    if (peek() != ',') return invalid_or_end(object ? "after object key:value pair" : "after array element");
    ++at_;
    return object ? key() : value();
  }

  bool literal(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i, ++at_)
      if (peek() != word[i]) return invalid(fmt::format("in literal {} (expecting '{}')", word, word[i]));
    return true;
  }

  void digits() {
    while (is_digit(peek())) ++at_;
  }

  bool number() {
    if (peek() == '-') {
      ++at_;
      if (!is_digit(peek())) return invalid("in numeric literal");
    }
    if (peek() == '0') {
      ++at_;
    } else {
      digits();
    }
    if (peek() == '.') {
      ++at_;
      if (!is_digit(peek())) return invalid("after decimal point in numeric literal");
      digits();
    }
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      if (!is_digit(peek())) return invalid("in exponent of numeric literal");
      digits();
    }
    return true;
  }

  bool string() {
    for (++at_;; ++at_) {
      if (at_ >= text_.size()) return invalid_or_end("");
      char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) return invalid("in string literal");
      if (c != '\\') continue;
      ++at_;
      if (peek() == 'u') {
        for (int i = 0; i < 4; ++i) {
          ++at_;
          if (!is_hex(peek())) return invalid("in \\u hexadecimal character escape");
        }
      } else if (std::string_view("bfnrt\\/\"").find(peek()) == std::string_view::npos) {
        return invalid("in string escape code");
      }
    }
    ++at_;
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<char> open_;
  std::optional<std::string> error_;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
  size_t start = text.find_first_not_of(" \t\r\n\v\f");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r\n\v\f") - start + 1);
}

std::optional<std::string> go_syntax_error(std::string_view text) { return Scanner(text).run(); }

}  // namespace fairlead::admission

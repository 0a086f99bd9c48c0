#include "cel/internal/token.h"

#include <algorithm>
#include <array>
#include <optional>

namespace fairlead::cel {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, uint32_t rune) {
  auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (rune < 0x80) {
    put(rune);
  } else if (rune < 0x800) {
    put(0xC0 | rune >> 6);
    put(0x80 | (rune & 0x3F));
  } else if (rune < 0x10000) {
    put(0xE0 | rune >> 12);
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  } else {
    put(0xF0 | rune >> 18);
    put(0x80 | (rune >> 12 & 0x3F));
    put(0x80 | (rune >> 6 & 0x3F));
    put(0x80 | (rune & 0x3F));
  }
}

// Takes what follows a backslash. False if there is no such escape.
bool take_escape(std::string_view& rest, bool bytes, std::string& out) {
  if (rest.empty()) return false;
  char c = rest[0];
  rest.remove_prefix(1);
  static constexpr std::string_view kFrom = "abfnrtv\\'\"`?";
  static constexpr std::string_view kTo = "\a\b\f\n\r\t\v\\'\"`?";
  if (size_t at = kFrom.find(c); at != std::string_view::npos) {
    out += kTo[at];
    return true;
  }
  size_t digits = 0;
  uint32_t base = 16;
  uint32_t rune = 0;
  if (c == 'x' || c == 'X') {
    digits = 2;
  } else if (c == 'u' && !bytes) {
    digits = 4;
  } else if (c == 'U' && !bytes) {
    digits = 8;
  } else if (c >= '0' && c <= '3') {
    digits = 2;
    base = 8;
    rune = static_cast<uint32_t>(c - '0');
  } else {
    return false;
  }
  if (rest.size() < digits) return false;
  for (size_t i = 0; i < digits; ++i) {
    int digit = hex_digit(rest[i]);
    if (digit < 0 || digit >= static_cast<int>(base)) return false;
    rune = rune * base + static_cast<uint32_t>(digit);
  }
  rest.remove_prefix(digits);
  if (bytes) {
    out += static_cast<char>(rune);
    return true;
  }
  if (rune > 0x10FFFF || (rune >= 0xD800 && rune < 0xE000)) return false;
  append_utf8(out, rune);
  return true;
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text), rest_(text) {}

  Result<std::vector<Token>> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_space();
      Token token;
      token.offset = offset();
      if (rest_.empty()) {
        tokens.push_back(std::move(token));
        return tokens;
      }
      if (is_digit(rest_[0]) || (rest_[0] == '.' && rest_.size() > 1 && is_digit(rest_[1]))) {
        take_number(token);
      } else if (std::optional<size_t> quote = string_start()) {
        TRY(take_string(token, *quote));
      } else if (is_word(rest_[0])) {
        token.kind = Token::Kind::identifier;
        size_t size = 0;
        while (size < rest_.size() && is_word(rest_[size])) ++size;
        take(token, size);
      } else {
        TRY(take_sign(token));
      }
      tokens.push_back(std::move(token));
    }
  }

 private:
  size_t offset() const { return text_.size() - rest_.size(); }

  void take(Token& token, size_t size) {
    token.text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }

  void skip_space() {
    for (;;) {
      size_t space = rest_.find_first_not_of(" \t\r\n\f");
      rest_.remove_prefix(std::min(space, rest_.size()));
      if (!rest_.starts_with("//")) return;
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
    }
  }

  size_t digits_at(size_t at) const {
    size_t end = at;
    while (end < rest_.size() && is_digit(rest_[end])) ++end;
    return end - at;
  }

  void take_number(Token& token) {
    token.kind = Token::Kind::integer;
    size_t size = 0;
    if (rest_.starts_with("0x") && rest_.size() > 2 && hex_digit(rest_[2]) >= 0) {
      size = 2;
      while (size < rest_.size() && hex_digit(rest_[size]) >= 0) ++size;
    } else {
      size = digits_at(0);
      if (size < rest_.size() && rest_[size] == '.' && digits_at(size + 1) > 0) {
        size += 1 + digits_at(size + 1);
        token.kind = Token::Kind::floating;
      }
      if (size < rest_.size() && (rest_[size] == 'e' || rest_[size] == 'E')) {
        size_t sign = size + 1 < rest_.size() && (rest_[size + 1] == '+' || rest_[size + 1] == '-') ? 1 : 0;
        if (size_t digits = digits_at(size + 1 + sign); digits > 0) {
          size += 1 + sign + digits;
          token.kind = Token::Kind::floating;
        }
      }
    }
    if (token.kind == Token::Kind::integer && size < rest_.size() && (rest_[size] == 'u' || rest_[size] == 'U')) {
      token.kind = Token::Kind::unsigned_integer;
      ++size;
    }
    take(token, size);
  }

  // Where the quote is, behind the prefixes b and r.
  std::optional<size_t> string_start() const {
    size_t at = 0;
    if (at < rest_.size() && (rest_[at] == 'b' || rest_[at] == 'B')) ++at;
    if (at < rest_.size() && (rest_[at] == 'r' || rest_[at] == 'R')) ++at;
    return at < rest_.size() && (rest_[at] == '"' || rest_[at] == '\'') ? std::optional(at) : std::nullopt;
  }

  Result<void> take_string(Token& token, size_t quote) {
    std::string_view prefix = rest_.substr(0, quote);
    bool raw = prefix.find_first_of("rR") != std::string_view::npos;
    bool bytes = prefix.find_first_of("bB") != std::string_view::npos;
    token.kind = bytes ? Token::Kind::bytes : Token::Kind::string;
    std::string_view start = rest_;
    char mark = rest_[quote];
    bool triple = rest_.size() >= quote + 3 && rest_[quote + 1] == mark && rest_[quote + 2] == mark;
    std::string_view closing = rest_.substr(quote, triple ? 3 : 1);
    rest_.remove_prefix(quote + closing.size());
    for (;;) {
      if (rest_.empty() || (!triple && (rest_[0] == '\n' || rest_[0] == '\r')))
        return fail_at(text_, token.offset, "Syntax error: a string that does not end");
      if (rest_.starts_with(closing)) break;
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\\' && !raw) {
        if (!take_escape(rest_, bytes, token.literal))
          return fail_at(text_, offset() - 1, "Syntax error: an escape that does not exist");
      } else if (c == '\r') {
        token.literal += '\n';
        if (rest_.starts_with('\n')) rest_.remove_prefix(1);
      } else {
        token.literal += c;
      }
    }
    rest_.remove_prefix(closing.size());
    token.text = start.substr(0, start.size() - rest_.size());
    return {};
  }

  Result<void> take_sign(Token& token) {
    static constexpr std::array<std::string_view, 6> kDouble = {"==", "!=", "<=", ">=", "&&", "||"};
    token.kind = Token::Kind::sign;
    for (std::string_view sign : kDouble) {
      if (rest_.starts_with(sign)) {
        take(token, 2);
        return {};
      }
    }
    if (rest_[0] == '`') return fail(ErrorKind::limit, "names in backquotes are not evaluated here");
    static constexpr std::string_view kSingle = "<>[]{}().,-!?:+*/%";
    if (kSingle.find(rest_[0]) == std::string_view::npos)
      return fail_at(text_, offset(), "Syntax error: a character that does not belong here");
    take(token, 1);
    return {};
  }

  std::string_view text_;
  std::string_view rest_;
};

}  // namespace

Result<std::vector<Token>> cut(std::string_view text) { return Cutter(text).run(); }

std::unexpected<Error> fail_at(std::string_view text, size_t offset, std::string_view what) {
  offset = std::min(offset, text.size());
  size_t line_start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  std::string_view line = text.substr(line_start, text.find('\n', line_start) - line_start);
  auto row = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(line_start), '\n');
  size_t column = offset - line_start;
  return fail(ErrorKind::invalid, "ERROR: <input>:{}:{}: {}\n | {}\n | {}^", row, column + 1, what, line,
              std::string(column, '.'));
}

}  // namespace fairlead::cel

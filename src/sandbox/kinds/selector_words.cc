#include "sandbox/kinds/selector_words.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/go_quoted.h"
#include "base/json.h"
#include "sandbox/kinds/internal/validate_meta.h"

namespace fairlead::sandbox {
namespace {

enum class TokenKind {
  end,
  identifier,
  comma,
  open,
  close,
  not_sign,
  equals,
  double_equals,
  not_equals,
  greater,
  less,
  error
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
};

constexpr std::string_view kSpecial = "=!(),><";

TokenKind symbol(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, TokenKind>, 9> kSymbols = {{{"=", TokenKind::equals},
                                                                                      {"==", TokenKind::double_equals},
                                                                                      {"!=", TokenKind::not_equals},
                                                                                      {"!", TokenKind::not_sign},
                                                                                      {"(", TokenKind::open},
                                                                                      {")", TokenKind::close},
                                                                                      {",", TokenKind::comma},
                                                                                      {">", TokenKind::greater},
                                                                                      {"<", TokenKind::less}}};
  for (const auto& [name, kind] : kSymbols)
    if (name == text) return kind;
  return TokenKind::error;
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    if (std::string_view(" \t\r\n").find(text[0]) != std::string_view::npos) {
      text.remove_prefix(1);
    } else if (kSpecial.find(text[0]) != std::string_view::npos) {
      // As many as still are a symbol.
      size_t length = 1;
      while (length < text.size() && symbol(text.substr(0, length + 1)) != TokenKind::error) ++length;
      tokens.push_back({symbol(text.substr(0, length)), std::string(text.substr(0, length))});
      text.remove_prefix(length);
    } else {
      size_t length = 0;
      while (length < text.size() && kSpecial.find(text[length]) == std::string_view::npos &&
             std::string_view(" \t\r\n").find(text[length]) == std::string_view::npos)
        ++length;
      tokens.push_back({TokenKind::identifier, std::string(text.substr(0, length))});
      text.remove_prefix(length);
    }
  }
  tokens.push_back({TokenKind::end, ""});
  return tokens;
}

using Flaw = std::optional<std::string>;

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(tokens_of(text)) {}

  Flaw read() {
    for (;;) {
      const Token& first = peek();
      if (first.kind == TokenKind::end) return std::nullopt;
      if (first.kind != TokenKind::identifier && first.kind != TokenKind::not_sign)
        return fmt::format("found '{}', expected: !, identifier, or 'end of string'", first.text);
      if (Flaw flaw = requirement()) return "unable to parse requirement: " + *flaw;
      Token next = take();
      if (next.kind == TokenKind::end) return std::nullopt;
      if (next.kind != TokenKind::comma) return fmt::format("found '{}', expected: ',' or 'end of string'", next.text);
      if (peek().kind != TokenKind::identifier && peek().kind != TokenKind::not_sign)
        return fmt::format("found '{}', expected: identifier after ','", peek().text);
    }
  }

 private:
  const Token& peek() const { return tokens_[at_]; }
  Token take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }

  Flaw requirement() {
    Token token = take();
    bool absent = token.kind == TokenKind::not_sign;
    if (absent) token = take();
    if (token.kind != TokenKind::identifier) return fmt::format("found '{}', expected: identifier", token.text);
    std::string key = token.text;
    if (std::vector<std::string> flaws = qualified_name_flaws(key); !flaws.empty())
      return fmt::format("<nil>: Invalid value: {}: {}", go_quoted(key), fmt::join(flaws, "; "));
    if (absent || peek().kind == TokenKind::end || peek().kind == TokenKind::comma) return std::nullopt;
    Token op = take();
    if (op.kind == TokenKind::identifier && (op.text == "in" || op.text == "notin")) return values(key);
    if (op.kind != TokenKind::equals && op.kind != TokenKind::double_equals && op.kind != TokenKind::not_equals &&
        op.kind != TokenKind::greater && op.kind != TokenKind::less)
      return fmt::format("found '{}', expected: in, notin, =, ==, !=, gt, lt", op.text);
    if (peek().kind == TokenKind::end || peek().kind == TokenKind::comma) return check(key, {""});
    Token value = take();
    if (value.kind != TokenKind::identifier) return fmt::format("found '{}', expected: identifier", value.text);
    return check(key, {value.text});
  }

  Flaw values(const std::string& key) {
    Token open = take();
    if (open.kind != TokenKind::open) return fmt::format("found '{}' expected: '('", open.text);
    std::vector<std::string> list;
    if (peek().kind == TokenKind::close) {
      take();
      return check(key, list);
    }
    if (peek().kind != TokenKind::identifier && peek().kind != TokenKind::comma)
      return fmt::format("found '{}', expected: ',', ')' or identifier", peek().text);
    for (;;) {
      Token token = take();
      if (token.kind == TokenKind::identifier) {
        list.push_back(token.text);
        if (peek().kind == TokenKind::close) break;
        if (peek().kind != TokenKind::comma) return fmt::format("found '{}', expected: ',' or ')'", peek().text);
      } else if (token.kind == TokenKind::comma) {
        if (list.empty()) list.emplace_back("");
        if (peek().kind == TokenKind::close) {
          list.emplace_back("");
          break;
        }
        if (peek().kind == TokenKind::comma) {
          take();
          list.emplace_back("");
        }
      } else {
        return fmt::format("found '{}', expected: ',', or identifier", token.text);
      }
    }
    take();
    return check(key, list);
  }

  static Flaw check(const std::string& key, const std::vector<std::string>& list) {
    for (size_t i = 0; i < list.size(); ++i)
      if (std::vector<std::string> flaws = label_value_flaws(list[i]); !flaws.empty())
        return fmt::format("values[{}][{}]: Invalid value: {}: {}", i, key, go_quoted(list[i]), fmt::join(flaws, "; "));
    return std::nullopt;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace

std::optional<std::string> selector_flaw(std::string_view text) { return Reader(text).read(); }

}  // namespace fairlead::sandbox

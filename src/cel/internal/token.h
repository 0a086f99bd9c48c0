// An expression cut into tokens, string escapes resolved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fairlead::cel {

struct Token {
  // `sign` is any operator or bracket; its characters are the text.
  enum class Kind { end, identifier, integer, unsigned_integer, floating, string, bytes, sign };
  Kind kind = Kind::end;
  std::string_view text;
  // What a string or bytes literal stands for.
  std::string literal;
  size_t offset = 0;

  bool is(std::string_view sign) const { return kind == Kind::sign && text == sign; }
  bool is_word(std::string_view word) const { return kind == Kind::identifier && text == word; }
};

// The last one is always `end`.
Result<std::vector<Token>> cut(std::string_view text);

// "ERROR: <input>:1:5: what", with the line and a caret under it.
std::unexpected<Error> fail_at(std::string_view text, size_t offset, std::string_view what);

}  // namespace fairlead::cel

// Errors that show where in a text they are: the line, and a caret underneath.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::yaml {

// A text that errors are about.
struct Place {
  std::string_view text;  // in UTF-8, or meant to be
  std::string_view name;
  size_t first_line = 1;  // the number of the text's first line in what `name` names
  bool hide_values = false;
};

// Lines and columns count from 0 within the text of the place, columns in characters: as the YAML parser has them.
Error error_at(const Place& place, size_t line, size_t column, std::string what, ErrorKind kind = ErrorKind::invalid);
Error error_at_offset(const Place& place, size_t offset, std::string what, ErrorKind kind = ErrorKind::invalid);

// The first byte of the character there; NUL behind the end of the line.
char byte_at(const Place& place, size_t line, size_t column);

// Whether a document may be a Secret, or a list that has one: looked for in its text, since it may be one that cannot
// be parsed. Says yes rather once too often.
bool may_be_secret(std::string_view document);

}  // namespace fairlead::yaml

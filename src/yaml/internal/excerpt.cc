#include "yaml/internal/excerpt.h"

#include <algorithm>

namespace fairlead::yaml {
namespace {

constexpr size_t kWidth = 100;
constexpr std::string_view kIndent = "    ";

// Behind the next line break at or after `start`; the end of the text if there is none. As the YAML parser sees lines:
// besides CR, LF and CRLF, NEL, LS and PS break them.
size_t next_line(std::string_view text, size_t start) {
  for (size_t i = start; i < text.size(); ++i) {
    switch (text[i]) {
      case '\n': return i + 1;
      case '\r': return text.substr(i + 1).starts_with('\n') ? i + 2 : i + 1;
      case '\xc2':
        if (text.substr(i + 1).starts_with('\x85')) return i + 2;
        break;
      case '\xe2':
        if (text.substr(i + 1).starts_with("\x80\xa8") || text.substr(i + 1).starts_with("\x80\xa9")) return i + 3;
        break;
    }
  }
  return text.size();
}

std::string_view line_of(std::string_view text, size_t line) {
  size_t start = 0;
  while (line-- > 0) start = next_line(text, start);
  std::string_view found = text.substr(start, next_line(text, start) - start);
  while (found.ends_with('\n') || found.ends_with('\r')) found.remove_suffix(1);
  return found;
}

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

struct Character {
  size_t size = 1;
  // What could play tricks on a terminal, or is no text, is a question mark.
  std::string_view shown;
};

Character character_at(std::string_view line, size_t i) {
  unsigned char lead = static_cast<unsigned char>(line[i]);
  size_t size = 1;
  while (lead >= 0xc2 && size < 4 && i + size < line.size() && is_continuation(line[i + size])) ++size;
  size_t wanted = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
  bool control =
      lead < 0x20 || lead == 0x7f || (lead == 0xc2 && size == 2 && static_cast<unsigned char>(line[i + 1]) < 0xa0);
  bool is_text = !control && (lead < 0x80 || (lead >= 0xc2 && lead <= 0xf4 && size == wanted));
  return {.size = size == wanted ? size : 1,
          .shown = lead == '\t' ? " "
                   : is_text    ? line.substr(i, wanted)
                                : std::string_view("?")};
}

// One column for each character.
size_t columns_of(std::string_view line) {
  size_t columns = 0;
  for (size_t i = 0; i < line.size(); i += character_at(line, i).size) ++columns;
  return columns;
}

// A line can be as long as a file: only what is shown of it is copied.
std::string part_of(std::string_view line, size_t start, size_t end) {
  std::string shown;
  size_t column = 0;
  for (size_t i = 0; i < line.size() && column < end; ++column) {
    Character character = character_at(line, i);
    if (column >= start) shown += character.shown;
    i += character.size;
  }
  return shown;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-' || c == '/';
}

// The line up to and with the colon behind its key, if it has one, otherwise its indentation.
size_t visible_size(std::string_view line) {
  size_t indent = std::min(line.find_first_not_of(" \t-{["), line.size());
  size_t at = indent;
  bool quoted = at < line.size() && (line[at] == '"' || line[at] == '\'');
  if (quoted) ++at;
  size_t key = at;
  while (at < line.size() && is_key_character(line[at])) ++at;
  if (at == key) return indent;
  if (quoted) {
    if (at == line.size() || line[at] != line[indent]) return indent;
    ++at;
  }
  while (at < line.size() && line[at] == ' ') ++at;
  if (at == line.size() || line[at] != ':') return indent;
  bool ends = at + 1 == line.size() || line[at + 1] == ' ' || quoted;
  return ends ? at + 1 : indent;
}

std::string excerpt(std::string_view line, size_t column, bool hide_values) {
  std::string hidden;
  if (hide_values) {
    size_t visible = visible_size(line);
    if (visible < line.size()) {
      line = line.substr(0, visible);
      hidden = line.empty() || line.ends_with(' ') ? "(value not shown)" : " (value not shown)";
    }
    column = std::min(column, line.size());
  }
  size_t columns = columns_of(line);
  column = std::min(column, columns);
  size_t start = column > kWidth * 3 / 4 ? column - kWidth * 3 / 4 : 0;
  if (columns <= kWidth) start = 0;
  size_t end = std::min(columns, start + kWidth);

  std::string shown(kIndent);
  std::string caret(kIndent);
  if (start > 0) {
    shown += "...";
    caret += "   ";
  }
  shown += part_of(line, start, end);
  if (end < columns) shown += "...";
  shown += hidden;
  caret.append(column - start, ' ');
  caret += '^';
  while (shown.ends_with(' ')) shown.pop_back();
  return shown + "\n" + caret;
}

}  // namespace

Error error_at(const Place& place, size_t line, size_t column, std::string what, ErrorKind kind) {
  what += "\n" + excerpt(line_of(place.text, line), column, place.hide_values);
  return Error(kind, std::move(what)).at(fmt::format("{}:{}:{}", place.name, place.first_line + line, column + 1));
}

Error error_at_offset(const Place& place, size_t offset, std::string what, ErrorKind kind) {
  size_t line = 0;
  size_t start = 0;
  for (size_t next = next_line(place.text, 0); next <= offset && next > start; next = next_line(place.text, next)) {
    if (next == place.text.size() && !place.text.ends_with('\n')) break;
    start = next;
    ++line;
  }
  std::string_view before = place.text.substr(start, offset - start);
  size_t column = before.size() - size_t(std::ranges::count_if(before, is_continuation));
  return error_at(place, line, column, std::move(what), kind);
}

char byte_at(const Place& place, size_t line, size_t column) {
  std::string_view text = line_of(place.text, line);
  size_t at = 0;
  for (; column > 0 && at < text.size(); --column) do
      ++at;
    while (at < text.size() && is_continuation(text[at]));
  return at < text.size() ? text[at] : '\0';
}

bool may_be_secret(std::string_view document) {
  constexpr std::string_view kSecret = "Secret";
  for (size_t at = document.find(kSecret); at != std::string_view::npos; at = document.find(kSecret, at + 1)) {
    // Between the key `kind` and its value may be quotes, space, a line break, a tag, an anchor: anything but a comma.
    std::string_view before = document.substr(0, at);
    before.remove_prefix(before.size() - std::min<size_t>(before.size(), 64));
    size_t key = before.rfind("kind");
    if (key != std::string_view::npos && before.substr(key).find(',') == std::string_view::npos) return true;
  }
  return false;
}

}  // namespace fairlead::yaml

#include "yaml/internal/json_positions.h"

#include "base/json.h"

namespace fairlead::yaml {
namespace {

// Behind the closing quote of the string that starts at `at`.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

void JsonSkimmer::skim(std::string_view text, size_t first_line) const {
  size_t line = first_line;
  size_t line_start = 0;
  std::vector<bool> objects;  // of what is open: whether it is an object
  bool expects_key = false;
  for (size_t at = 0; at < text.size();) {
    char c = text[at];
    bool go_on = true;
    Position here{.line = line, .column = at - line_start + 1};
    if (c == '\n') {
      ++line;
      line_start = ++at;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == ':') {
      ++at;
    } else if (c == ',') {
      expects_key = !objects.empty() && objects.back();
      ++at;
    } else if (c == '{' || c == '[') {
      go_on = begin(c == '{', here);
      objects.push_back(c == '{');
      expects_key = c == '{';
      ++at;
    } else if (c == '}' || c == ']') {
      if (objects.empty()) return;
      go_on = end();
      objects.pop_back();
      expects_key = false;
      ++at;
    } else if (c == '"' && expects_key) {
      size_t behind = skip_string(text, at);
      Result<Json> name = Json::parse(text.substr(at, behind - at));
      if (!name || !name->is_string()) return;
      go_on = key(*name->if_string(), here);
      expects_key = false;
      at = behind;
    } else {
      go_on = scalar(here);
      at = c == '"' ? skip_string(text, at) : std::min(text.find_first_of(" \t\r\n,:{}[]\"", at + 1), text.size());
    }
    if (!go_on) return;
  }
}

std::vector<uint32_t> json_item_lines(std::string_view text, size_t first_line) {
  std::vector<uint32_t> lines;
  size_t depth = 0;
  bool in_items = false;
  auto note = [&](Position at) {
    if (depth == 2 && in_items) lines.push_back(uint32_t(at.line));
    return true;
  };
  JsonSkimmer skimmer{
      .begin =
          [&](bool, Position at) {
            note(at);
            ++depth;
            return true;
          },
      .key =
          [&](const std::string& name, Position) {
            if (depth == 1) in_items = name == "items";
            return true;
          },
      .scalar = note,
      .end = [&] { return --depth > 0; },
  };
  skimmer.skim(text, first_line);
  return lines;
}

}  // namespace fairlead::yaml

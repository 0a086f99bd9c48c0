#include "diff/yaml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace fairlead::diff {
namespace {

// Words that YAML 1.1 reads as something else than text.
bool is_word_with_meaning(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  constexpr std::string_view kWords[] = {"y",   "n",    "yes", "no", "true", "false", "on",
                                         "off", "null", "~",   "<<", "=",    ".nan",  ".inf"};
  return std::ranges::find(kWords, lower) != std::end(kWords);
}

// Numbers, times and dates, and a few texts that only look like them.
bool may_be_number(std::string_view text) {
  auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  size_t begin = text.find_first_not_of("+-.");
  return begin != std::string_view::npos && is_digit(text[begin]);
}

bool is_plain(std::string_view text) {
  if (text.empty() || is_word_with_meaning(text) || may_be_number(text)) return false;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`. ").contains(text.front()) || text.back() == ' ' || text.back() == ':')
    return false;
  bool has_marks = text.contains(": ") || text.contains(" #");
  return !has_marks && std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

// True if the text can stand in a block: lines without control characters, the first one not indented or empty.
bool fits_block(std::string_view text) {
  if (!text.contains('\n') || text.front() == ' ' || text.front() == '\n') return false;
  return std::ranges::all_of(text, [](unsigned char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); });
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  // Writes a value behind "key:" or "-", and ends the line.
  void write_value(const Json& value, size_t indent) {
    if (value.is_object() && !value.members().empty()) {
      out_ += '\n';
      write_members(value, indent);
    } else if (value.is_array() && !value.items().empty()) {
      out_ += '\n';
      write_items(value, indent);
    } else {
      write_scalar(value, indent);
    }
  }

  void write_members(const Json& value, size_t indent, bool first_is_placed = false) {
    std::vector<const Json::Member*> members;
    for (const Json::Member& member : value.members()) members.push_back(&member);
    std::ranges::sort(members, {}, [](const Json::Member* member) -> const std::string& { return member->key; });
    for (const Json::Member* member : members) {
      if (!first_is_placed) out_.append(indent, ' ');
      first_is_placed = false;
      out_ += text_of(member->key) + ":";
      bool is_list = member->value.is_array();
      write_value(member->value, is_list ? indent : indent + 2);
    }
  }

  void write_items(const Json& value, size_t indent) {
    for (const Json& item : value.items()) {
      out_.append(indent, ' ');
      out_ += '-';
      if (item.is_object() && !item.members().empty()) {
        out_ += ' ';
        write_members(item, indent + 2, true);
      } else {
        write_value(item, indent + 2);
      }
    }
  }

 private:
  static std::string text_of(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    std::string quoted;
    append_json_string(quoted, text);
    return quoted;
  }

  void write_scalar(const Json& value, size_t indent) {
    const std::string* text = value.if_string();
    if (text && fits_block(*text)) return write_block(*text, indent);
    out_ += ' ';
    if (text) out_ += text_of(*text);
    else value.append_to(out_);
    out_ += '\n';
  }

  void write_block(std::string_view text, size_t indent) {
    size_t end = text.find_last_not_of('\n');
    size_t line_ends = text.size() - (end == std::string_view::npos ? 0 : end + 1);
    out_ += line_ends == 0 ? " |-\n" : line_ends == 1 ? " |\n" : " |+\n";
    std::string_view rest = text;
    if (rest.ends_with('\n')) rest.remove_suffix(1);
    while (true) {
      size_t stop = rest.find('\n');
      std::string_view line = rest.substr(0, stop);
      if (!line.empty()) out_.append(indent, ' ');
      out_.append(line);
      out_ += '\n';
      if (stop == std::string_view::npos) return;
      rest.remove_prefix(stop + 1);
    }
  }

  std::string out_;
};

}  // namespace

std::string yaml_text(const Json& value) {
  Writer writer;
  if (value.is_object() && !value.members().empty()) {
    writer.write_members(value, 0);
    return writer.take();
  }
  if (value.is_array() && !value.items().empty()) {
    writer.write_items(value, 0);
    return writer.take();
  }
  writer.write_value(value, 2);
  return writer.take().substr(1);
}

}  // namespace fairlead::diff

#include "retry/internal/output_text.h"

namespace fairlead::retry {
namespace {

constexpr char kEscape = '\x1b';
// The left side of a box.
constexpr std::string_view kBar = "│";

// Returns where the escape sequence ends that starts at `at`.
size_t end_of_sequence(std::string_view text, size_t at) {
  size_t i = at + 1;
  if (i >= text.size()) return text.size();
  char kind = text[i++];
  if (kind == '[') {
    while (i < text.size() && (text[i] < '@' || text[i] > '~')) ++i;
    return i < text.size() ? i + 1 : i;
  }
  if (kind != ']') return i;
  // A title or a link, up to BEL or ESC \. One that never ends must not swallow the rest.
  while (i < text.size() && text[i] != '\a' && text[i] != kEscape && text[i] != '\n') ++i;
  if (i < text.size() && text[i] == kEscape) return std::min(i + 2, text.size());
  return i < text.size() && text[i] == '\a' ? i + 1 : i;
}

std::string without_escapes(std::string_view output) {
  std::string text;
  text.reserve(output.size());
  for (size_t i = 0; i < output.size();) {
    if (output[i] == kEscape) {
      i = end_of_sequence(output, i);
    } else if (output[i] == '\\' && i + 1 < output.size() && (output[i + 1] == '"' || output[i + 1] == 'n')) {
      text += output[i + 1] == '"' ? '"' : '\n';
      i += 2;
    } else {
      text += output[i] == '\r' ? '\n' : output[i];
      ++i;
    }
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Whether Terraform broke a line of a diagnostic before `next`: without colours there is no box, and lines are full.
bool is_broken(std::string_view line, std::string_view next) {
  constexpr size_t kWidth = 77;
  if (line.empty() || line.size() > kWidth || next.empty() || next.front() == ' ') return false;
  return line.size() + 1 + next.substr(0, next.find(' ')).size() > kWidth;
}

}  // namespace

std::string unwrapped(std::string_view output) {
  std::string plain = without_escapes(output), text;
  text.reserve(plain.size());
  bool is_open = false;  // the last line was one of a box, and may go on
  bool is_diagnostic = false;
  std::string_view last;
  for (std::string_view rest = plain; !rest.empty();) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view whole = rest.substr(0, end), line = trimmed(whole);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    bool is_boxed = line.starts_with(kBar);
    if (is_boxed) line = trimmed(line.substr(kBar.size()));
    is_diagnostic = is_diagnostic || whole.starts_with("Error: ");
    bool goes_on = is_boxed ? is_open && !line.empty() : is_diagnostic && is_broken(last, whole);
    last = whole;
    if (!text.empty()) text += goes_on ? ' ' : '\n';
    text += line;
    is_open = is_boxed && !line.empty();
  }
  return text;
}

}  // namespace fairlead::retry

#include "kube/internal/warning_header.h"

#include <algorithm>
#include <optional>

#include "base/plain_text.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxWarnings = 100;
constexpr size_t kMaxText = 4096;

void skip_spaces(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
}

std::optional<std::string> take_quoted(std::string_view& text) {
  if (!text.starts_with('"')) return std::nullopt;
  std::string result;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return result;
    }
    if (text[i] == '\\' && ++i == text.size()) break;
    result += text[i];
  }
  return std::nullopt;
}

// `299 - "text" "date"`, and a comma behind it if another one follows.
std::optional<std::string> take_warning(std::string_view& text) {
  skip_spaces(text);
  bool has_code =
      text.size() > 4 && std::ranges::all_of(text.substr(0, 3), [](char c) { return c >= '0' && c <= '9'; });
  if (!has_code || text[3] != ' ') return std::nullopt;
  text.remove_prefix(4);
  size_t agent_end = text.find(' ');
  if (agent_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(agent_end + 1);
  skip_spaces(text);
  std::optional<std::string> warning = take_quoted(text);
  if (!warning) return std::nullopt;
  skip_spaces(text);
  if (text.starts_with('"') && !take_quoted(text)) return std::nullopt;
  skip_spaces(text);
  if (text.starts_with(',')) text.remove_prefix(1);
  return warning;
}

}  // namespace

std::vector<std::string> read_warnings(const http::Headers& headers) {
  std::vector<std::string> warnings;
  for (std::string_view text : headers.all("Warning")) {
    while (!text.empty() && warnings.size() < kMaxWarnings) {
      std::optional<std::string> warning = take_warning(text);
      if (!warning) break;
      std::string plain = plain_text(*warning, kMaxText);
      if (!plain.empty() && std::ranges::find(warnings, plain) == warnings.end()) warnings.push_back(std::move(plain));
    }
  }
  return warnings;
}

}  // namespace fairlead::kube

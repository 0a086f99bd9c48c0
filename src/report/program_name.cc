#include "report/program_name.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace fairlead::report {
namespace {

constexpr std::string_view kName = "fairlead";
constexpr std::string_view kPlugin = "kubectl-fairlead";
constexpr std::string_view kNext = "  next      ";

std::string& name_in_use() {
  static std::string name(kName);
  return name;
}

// True if a command line may begin behind this text: at the beginning, in quotes or brackets, and behind a space.
bool can_begin_behind(std::string_view before) {
  return before.empty() || std::string_view(" \n`\"(").contains(before.back());
}

// True if this text goes on as a command line does: with a word, or with a flag.
bool goes_on(std::string_view behind) {
  return behind.size() >= 2 && behind[0] == ' ' &&
         (std::islower(static_cast<unsigned char>(behind[1])) || behind[1] == '-' || behind[1] == '[');
}

}  // namespace

std::string program_name(std::string_view started_as) {
  std::string_view file = started_as.substr(started_as.rfind('/') + 1);
  return file == kPlugin ? "kubectl fairlead" : std::string(kName);
}

std::string with_program_name(std::string text, std::string_view name) {
  if (name == kName) return text;
  std::string named;
  size_t copied = 0;
  for (size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at + kName.size())) {
    std::string_view before = std::string_view(text).substr(0, at);
    bool is_command = can_begin_behind(before) && !before.ends_with("kubectl ") &&
                      goes_on(std::string_view(text).substr(at + kName.size()));
    if (!is_command) continue;
    named += text.substr(copied, at - copied);
    named += name;
    copied = at + kName.size();
  }
  return named + text.substr(copied);
}

void set_program_name(std::string name) { name_in_use() = std::move(name); }

std::string with_next_commands_named(std::string text) {
  if (name_in_use() == kName || !text.contains(kNext)) return text;
  std::string named;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    std::string line = text.substr(at, end - at);
    named += line.starts_with(kNext) ? with_program_name(std::move(line), name_in_use()) : line;
    at = end;
  }
  return named;
}

}  // namespace fairlead::report

#include "cli/runs/recorded_flags.h"

#include <algorithm>
#include <filesystem>

#include "cli/core/inspect.h"
#include "cli/core/parser.h"

namespace fairlead::cli {
namespace {

// A name of a file that exists stays valid wherever the plan is applied.
std::string absolute_if_file(const std::string& value) {
  std::error_code error;
  bool is_file = value != "-" && std::filesystem::exists(value, error) && !error;
  return is_file ? std::filesystem::absolute(value).string() : value;
}

void add_words(const PlanFile::Flag& flag, bool is_switch, std::vector<std::string>& words) {
  if (is_switch) words.push_back(flag.name);
  else
    for (const std::string& value : flag.values) words.push_back(fmt::format("{}={}", flag.name, value));
}

}  // namespace

std::vector<PlanFile::Flag> recorded_flags(Command command, const std::vector<std::string>& except) {
  std::vector<PlanFile::Flag> flags;
  for (const FlagView& given : CommandView(command).flags()) {
    if (!given.is_given() || given.is_argument()) continue;
    PlanFile::Flag flag{.name = given.name(), .values = given.values()};
    if (std::ranges::find(except, flag.name) != except.end()) continue;
    constexpr std::string_view kOfFiles[] = {"FILE", "FOLDER", "CHART"};
    bool names_files =
        std::ranges::any_of(kOfFiles, [&](std::string_view type) { return given.type().starts_with(type); });
    if (names_files) std::ranges::transform(flag.values, flag.values.begin(), absolute_if_file);
    flags.push_back(std::move(flag));
  }
  return flags;
}

namespace {

// Returns the words of a command line with the recorded flags and those that the user gave to `command` now, which win.
// Flags that the command does not have are left out.
std::vector<std::string> words_of(const std::vector<PlanFile::Flag>& flags, Command command) {
  std::vector<std::string> words;
  CommandView known(command);
  for (const PlanFile::Flag& flag : flags) {
    std::optional<FlagView> found = known.find(flag.name);
    if (found && !found->is_given()) add_words(flag, !found->takes_value(), words);
  }
  for (const PlanFile::Flag& flag : recorded_flags(command, {"--plan", "--help"}))
    add_words(flag, !known.find(flag.name)->takes_value(), words);
  return words;
}

}  // namespace

Result<void> parse_again(const std::vector<PlanFile::Flag>& flags, Command command,
                         const std::function<void(Command)>& add_flags) {
  Parser again("", command.name());
  add_flags(again.root());
  if (std::optional<ParseFailure> failure = again.parse(words_of(flags, command)))
    return fail(ErrorKind::invalid, "{}", failure->text);
  return {};
}

}  // namespace fairlead::cli

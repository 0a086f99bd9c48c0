#include "cli/runs/recorded_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

namespace fairlead::cli {
namespace {

std::string name_of(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

bool is_switch(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

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
  for (const CLI::Option* option : command.app().get_options()) {
    if (option->count() == 0 || !option->nonpositional()) continue;
    std::string name = name_of(*option);
    if (std::ranges::find(except, name) != except.end()) continue;
    PlanFile::Flag flag{.name = name, .values = option->results()};
    constexpr std::string_view kOfFiles[] = {"FILE", "FOLDER", "CHART"};
    bool names_files =
        std::ranges::any_of(kOfFiles, [&](std::string_view type) { return option->get_type_name().starts_with(type); });
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
  for (const PlanFile::Flag& flag : flags) {
    const CLI::Option* option = command.app().get_option_no_throw(flag.name);
    if (option && option->count() == 0) add_words(flag, is_switch(*option), words);
  }
  for (const PlanFile::Flag& flag : recorded_flags(command, {"--plan", "--help"}))
    add_words(flag, is_switch(*command.app().get_option_no_throw(flag.name)), words);
  return words;
}

}  // namespace

Result<void> parse_again(const std::vector<PlanFile::Flag>& flags, Command command,
                         const std::function<void(Command)>& add_flags) {
  CLI::App again("", command.name());
  add_flags(again);
  std::vector<std::string> words = words_of(flags, command);
  // CLI11 takes its words from the back.
  std::ranges::reverse(words);
  try {
    again.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return fail(ErrorKind::invalid, "{}", error.what());
  }
  return {};
}

}  // namespace fairlead::cli

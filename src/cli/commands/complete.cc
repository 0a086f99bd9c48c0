#include "cli/commands/complete.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace fairlead::cli {
namespace {

const CLI::App* subcommand(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (command->get_name() == name) return command;
  return nullptr;
}

// Global flags may stand behind a command, so those of every command above count too.
const CLI::Option* find_option(const CLI::App* app, const std::string& name) {
  for (; app; app = app->get_parent())
    if (const CLI::Option* option = app->get_option_no_throw(name)) return option;
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// As the command line has it; for a positional argument, its name in the help.
std::string long_name(const CLI::Option& option) {
  if (!option.nonpositional()) return option.get_name(true);
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

// A check for membership describes itself as "{text,json}" in the option's type.
std::vector<std::string> listed_values(const CLI::Option& option) {
  std::string type = option.get_type_name();
  size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

// Options whose values are paths have a type that says so.
bool takes_path(const CLI::Option& option) {
  std::string type = option.get_type_name();
  return type.starts_with("FILE") || type == "FOLDER" || type == "CHART";
}

// Returns the positional argument that follows `given` others; null if there is none.
const CLI::Option* positional(const CLI::App& command, size_t given) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    if (given == 0 || option->get_items_expected_max() > 1) return option;
    --given;
  }
  return nullptr;
}

void add_if_it_fits(Candidates& found, const std::string& typed, std::string word, std::string description) {
  if (word.starts_with(typed)) found.words.push_back({std::move(word), std::move(description)});
}

// Candidates for the value of an option; each comes with `prefix` before it ("--output=" where that has been typed).
Candidates values(const CLI::Option& option, const std::string& prefix, const std::string& typed,
                  const std::function<std::vector<std::string>(const std::string&)>& values_of) {
  Candidates found;
  for (const std::string& value : listed_values(option)) add_if_it_fits(found, prefix + typed, prefix + value, "");
  for (const std::string& value : values_of(long_name(option)))
    add_if_it_fits(found, prefix + typed, prefix + value, "");
  found.files = prefix.empty() && takes_path(option);
  return found;
}

Candidates with(Candidates found, Candidates more) {
  std::ranges::move(more.words, std::back_inserter(found.words));
  found.files = found.files || more.files;
  return found;
}

}  // namespace

Candidates complete(const CLI::App& app, const std::vector<std::string>& words,
                    const std::function<std::vector<std::string>(const std::string& option)>& values_of) {
  const CLI::App* command = &app;
  const CLI::Option* waiting = nullptr;  // an option whose value comes next
  size_t given = 0;                      // positional arguments
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting) {
      waiting = nullptr;
    } else if (word.starts_with("-")) {
      const CLI::Option* option = find_option(command, word);
      if (option && takes_value(*option)) waiting = option;
    } else if (const CLI::App* next = subcommand(*command, word)) {
      command = next;
    } else {
      ++given;
    }
  }
  std::string typed = words.empty() ? "" : words.back();
  if (waiting) return values(*waiting, "", typed, values_of);
  if (size_t equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = find_option(command, typed.substr(0, equals));
    return option ? values(*option, typed.substr(0, equals + 1), typed.substr(equals + 1), values_of) : Candidates{};
  }
  Candidates found;
  if (typed.starts_with("-")) {
    for (const CLI::App* level = command; level; level = level->get_parent())
      for (const CLI::Option* option : level->get_options())
        if (option->nonpositional() && !option->get_lnames().empty())
          add_if_it_fits(found, typed, long_name(*option), option->get_description());
    return found;
  }
  for (const CLI::App* next : command->get_subcommands([](const CLI::App*) { return true; }))
    if (!next->get_group().empty()) add_if_it_fits(found, typed, next->get_name(), next->get_description());
  if (const CLI::Option* next = positional(*command, given))
    return with(std::move(found), values(*next, "", typed, values_of));
  return found;
}

}  // namespace fairlead::cli

#include "cli/commands/complete.h"

#include <algorithm>

#include "cli/core/inspect.h"

namespace fairlead::cli {
namespace {

std::optional<CommandView> subcommand(const CommandView& command, const std::string& name) {
  for (const CommandView& one : command.subcommands())
    if (one.name() == name) return one;
  return std::nullopt;
}

// The command and every command above it. Global flags may stand behind a command, so those of all of them count.
std::vector<CommandView> levels_of(CommandView command) {
  std::vector<CommandView> levels = {command};
  while (std::optional<CommandView> above = levels.back().parent()) levels.push_back(*above);
  return levels;
}

std::optional<FlagView> find_flag(const CommandView& command, const std::string& name) {
  for (const CommandView& level : levels_of(command))
    if (std::optional<FlagView> flag = level.find(name)) return flag;
  return std::nullopt;
}

// Flags whose values are paths have a type that says so.
bool takes_path(const FlagView& flag) {
  std::string type = flag.type();
  return type.starts_with("FILE") || type == "FOLDER" || type == "CHART";
}

// Returns the argument that follows `given` others; nothing if there is none.
std::optional<FlagView> argument(const CommandView& command, size_t given) {
  for (const FlagView& flag : command.flags()) {
    if (!flag.is_argument()) continue;
    if (given == 0 || flag.takes_several()) return flag;
    --given;
  }
  return std::nullopt;
}

void add_if_it_fits(Candidates& found, const std::string& typed, std::string word, std::string description) {
  if (word.starts_with(typed)) found.words.push_back({std::move(word), std::move(description)});
}

// Candidates for the value of a flag; each comes with `prefix` before it ("--output=" where that has been typed).
Candidates values(const FlagView& flag, const std::string& prefix, const std::string& typed,
                  const std::function<std::vector<std::string>(const std::string&)>& values_of) {
  Candidates found;
  for (const std::string& value : flag.choices()) add_if_it_fits(found, prefix + typed, prefix + value, "");
  for (const std::string& value : values_of(flag.name())) add_if_it_fits(found, prefix + typed, prefix + value, "");
  found.files = prefix.empty() && takes_path(flag);
  return found;
}

Candidates with(Candidates found, Candidates more) {
  std::ranges::move(more.words, std::back_inserter(found.words));
  found.files = found.files || more.files;
  return found;
}

}  // namespace

Candidates complete(Command app, const std::vector<std::string>& words,
                    const std::function<std::vector<std::string>(const std::string& option)>& values_of) {
  CommandView command(app);
  std::optional<FlagView> waiting;  // a flag whose value comes next
  size_t given = 0;                 // arguments
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (waiting) {
      waiting = std::nullopt;
    } else if (word.starts_with("-")) {
      std::optional<FlagView> flag = find_flag(command, word);
      if (flag && flag->takes_value()) waiting = flag;
    } else if (std::optional<CommandView> next = subcommand(command, word)) {
      command = *next;
    } else {
      ++given;
    }
  }
  std::string typed = words.empty() ? "" : words.back();
  if (waiting) return values(*waiting, "", typed, values_of);
  if (size_t equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    std::optional<FlagView> flag = find_flag(command, typed.substr(0, equals));
    return flag ? values(*flag, typed.substr(0, equals + 1), typed.substr(equals + 1), values_of) : Candidates{};
  }
  Candidates found;
  if (typed.starts_with("-")) {
    for (const CommandView& level : levels_of(command))
      for (const FlagView& flag : level.flags())
        if (!flag.long_names().empty()) add_if_it_fits(found, typed, flag.name(), flag.description());
    return found;
  }
  for (const CommandView& next : command.subcommands())
    if (!next.is_hidden()) add_if_it_fits(found, typed, next.name(), next.description());
  if (std::optional<FlagView> next = argument(command, given))
    return with(std::move(found), values(*next, "", typed, values_of));
  return found;
}

}  // namespace fairlead::cli

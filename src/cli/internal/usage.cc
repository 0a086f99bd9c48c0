#include "cli/internal/usage.h"

#include <algorithm>
#include <cstdio>

#include "base/nearest.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/inspect.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

std::vector<std::string> command_names(const CommandView& app) {
  std::vector<std::string> names;
  for (const CommandView& command : app.subcommands()) names.push_back(command.name());
  return names;
}

// Of the command and of everything above it: "--prune".
std::vector<std::string> flag_names(const CommandView& command) {
  std::vector<std::string> names;
  for (std::optional<CommandView> level = command; level; level = level->parent())
    for (const FlagView& flag : level->flags()) std::ranges::copy(flag.long_names(), std::back_inserter(names));
  return names;
}

std::string unknown(std::string_view what, const std::string& word, const std::vector<std::string>& known) {
  std::optional<std::string> meant = nearest(word, known);
  return fmt::format("unknown {} {}{}", what, word, meant ? fmt::format("; did you mean {}?", *meant) : "");
}

std::optional<FlagView> find_flag(const CommandView& command, const std::string& name) {
  for (std::optional<CommandView> level = command; level; level = level->parent())
    for (const FlagView& flag : level->flags())
      if (flag.is_named(name)) return flag;
  return std::nullopt;
}

// "-f/--filename", "--timeout", "SHELL"
std::string shown_name(const std::optional<FlagView>& flag, const std::string& name) {
  if (!flag || flag->short_names().empty() || flag->long_names().empty()) return name;
  return fmt::format("{}/{}", flag->short_names().front(), flag->long_names().front());
}

// "none, server": what is between the braces of "{none,server}".
std::string choices_in(std::string_view text) {
  size_t begin = text.find('{');
  size_t end = text.find('}', begin == std::string_view::npos ? 0 : begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return {};
  std::string list;
  for (char c : text.substr(begin + 1, end - begin - 1)) list += c == ',' ? std::string(", ") : std::string(1, c);
  return list;
}

// "FILE", "VALUE"
std::string type_of(const FlagView& flag) {
  std::string type = flag.type();
  type = type.substr(0, type.find(':'));
  return type.empty() || type == "TEXT" ? "VALUE" : type;
}

// "a FILE", "a number", "one of none, server"
std::string value_wanted(const std::optional<FlagView>& flag) {
  if (!flag) return "a value";
  if (std::string choices = choices_in(flag->type()); !choices.empty()) return "one of " + choices;
  std::string type = type_of(*flag);
  if (type == "VALUE") return "a value";
  return type == "UINT" || type == "INT" || type == "N" ? "a number" : "a " + type;
}

// "--x: 1 required DURATION missing", "--x: At Most 1 required but received 2"
std::string mismatch_text(const std::optional<FlagView>& flag, const std::string& name, std::string_view said) {
  if (said.contains("At Most")) return fmt::format("{} may be given only once", name);
  return fmt::format("{} needs {}", name, value_wanted(flag));
}

// "--x: foo not in {none,server}", "--x: Value abc not in range 0 to 200"
std::string validation_text(const std::string& name, std::string_view said) {
  constexpr std::string_view kRange = " not in range ";
  if (size_t at = said.find(kRange); at != std::string_view::npos) {
    std::string_view value = said.substr(0, at);
    if (value.starts_with("Value ")) value.remove_prefix(6);
    std::string_view range = said.substr(at + kRange.size());
    return fmt::format("{}: \"{}\" is not a number from {}", name, value, range);
  }
  std::string choices = choices_in(said);
  size_t at = said.find(" not in {");
  if (choices.empty() || at == std::string_view::npos) return fmt::format("{}: {}", name, said);
  return fmt::format("{}: \"{}\" is not one of {}", name, said.substr(0, at), choices);
}

// The parser's words are its own; people get these. `said` is what it says behind the name of the flag.
std::string plain_text(const CommandView& command, const ParseFailure& failure) {
  const std::string& said = failure.text;
  const std::string& kind = failure.kind;
  // "x.yaml was not readable (missing?)"
  if (kind == "FileError")
    return fmt::format("the file of --config, {}, cannot be read", said.substr(0, said.find(" was not")));
  if (kind == "ConversionError") {
    // "Could not convert: --port = x"
    size_t begin = said.find(": ");
    size_t end = said.find(" = ");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return said;
    std::string name = said.substr(begin + 2, end - begin - 2);
    std::optional<FlagView> flag = find_flag(command, name);
    bool is_switch = flag && flag->is_switch();
    return fmt::format("{}: \"{}\" is not {}", shown_name(flag, name), said.substr(end + 3),
                       is_switch ? "true or false" : value_wanted(flag));
  }
  size_t end = std::min(said.find(": "), said.find(' '));
  std::string name = said.substr(0, end);
  std::optional<FlagView> flag = find_flag(command, name);
  std::string shown = shown_name(flag, name);
  std::string rest = end == std::string::npos ? "" : said.substr(said[end] == ':' ? end + 2 : end + 1);
  if (kind == "RequiredError" && flag)
    return name.starts_with("-") ? fmt::format("{} {} is missing", shown, type_of(*flag))
                                 : fmt::format("{} is missing: {}", name, flag->description());
  if (kind == "ArgumentMismatch") return mismatch_text(flag, shown, rest);
  if (kind == "ValidationError") return validation_text(shown, rest);
  // "requires --name", "excludes --only"
  if (kind == "RequiresError") return fmt::format("{} needs {} as well", shown, rest.substr(rest.find(' ') + 1));
  if (kind == "ExcludesError")
    return fmt::format("{} and {} cannot be used together", shown, rest.substr(rest.find(' ') + 1));
  return said;
}

std::string what_is_wrong(const CommandView& app, const CommandView& command, const ParseFailure& failure) {
  std::vector<std::string> left = app.unused_words();
  if (left.empty()) return plain_text(command, failure);
  const std::string& word = left.front();
  if (word.starts_with("-")) return unknown("flag", word.substr(0, word.find('=')), flag_names(command));
  if (command != app) return fmt::format("{} does not take the argument {}", command.full_name(), word);
  return unknown("command", word, command_names(app));
}

}  // namespace

std::vector<std::string> without_help_command(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::optional<int> report_unknown_topic(Command app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != "help" || words[1].starts_with("-")) return std::nullopt;
  std::vector<std::string> known = command_names(app);
  if (std::ranges::find(known, words[1]) != known.end()) return std::nullopt;
  report::print(stderr,
                fmt::format("error: {}\n  next      {} --help\n", unknown("command", words[1], known), app.name()));
  return kUsage;
}

int report_usage(Command app, const ParseFailure& failure) {
  CommandView command(app);
  while (std::optional<CommandView> chosen = command.chosen()) command = *chosen;
  if (failure.kind == "CallForVersion") {
    std::puts(failure.text.c_str());
    return kDone;
  }
  if (failure.is_wish) {
    std::optional<CommandView> parent = command.parent();
    std::fputs(command.help(parent ? parent->full_name() : "").c_str(), stdout);
    if (parent) std::puts(fmt::format("\nGlobal flags: {} --help", command.root_name()).c_str());
    return kDone;
  }
  report(Error(ErrorKind::invalid, what_is_wrong(app, command, failure)).next(command.full_name() + " --help"));
  return kUsage;
}

}  // namespace fairlead::cli

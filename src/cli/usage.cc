#include "cli/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/nearest.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

// Of the command and of everything above it: "--prune".
std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app; app = app->get_parent())
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string unknown(std::string_view what, const std::string& word, const std::vector<std::string>& known) {
  std::optional<std::string> meant = nearest(word, known);
  return fmt::format("unknown {} {}{}", what, word, meant ? fmt::format("; did you mean {}?", *meant) : "");
}

// "fairlead", "fairlead apply"
std::string full_name(const CLI::App& command) {
  if (!command.get_parent()) return command.get_name();
  return full_name(*command.get_parent()) + " " + command.get_name();
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::App* app = &command; app; app = app->get_parent())
    for (const CLI::Option* option : app->get_options())
      if (option->get_name() == name || option->check_name(name)) return option;
  return nullptr;
}

// "-f/--filename", "--timeout", "SHELL"
std::string shown_name(const CLI::Option* option, const std::string& name) {
  if (!option || option->get_snames().empty() || option->get_lnames().empty()) return name;
  return fmt::format("-{}/--{}", option->get_snames().front(), option->get_lnames().front());
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
std::string type_of(const CLI::Option& option) {
  std::string type = option.get_type_name();
  type = type.substr(0, type.find(':'));
  return type.empty() || type == "TEXT" ? "VALUE" : type;
}

// "a FILE", "a number", "one of none, server"
std::string value_wanted(const CLI::Option* option) {
  if (!option) return "a value";
  if (std::string choices = choices_in(option->get_type_name()); !choices.empty()) return "one of " + choices;
  std::string type = type_of(*option);
  if (type == "VALUE") return "a value";
  return type == "UINT" || type == "INT" || type == "N" ? "a number" : "a " + type;
}

// "--x: 1 required DURATION missing", "--x: At Most 1 required but received 2"
std::string mismatch_text(const CLI::Option* option, const std::string& name, std::string_view said) {
  if (said.contains("At Most")) return fmt::format("{} may be given only once", name);
  return fmt::format("{} needs {}", name, value_wanted(option));
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
std::string plain_text(const CLI::App& command, const CLI::ParseError& error) {
  std::string said = error.what();
  std::string kind = error.get_name();
  // "x.yaml was not readable (missing?)"
  if (kind == "FileError")
    return fmt::format("the file of --config, {}, cannot be read", said.substr(0, said.find(" was not")));
  if (kind == "ConversionError") {
    // "Could not convert: --port = x"
    size_t begin = said.find(": ");
    size_t end = said.find(" = ");
    if (begin == std::string::npos || end == std::string::npos || end < begin) return said;
    std::string name = said.substr(begin + 2, end - begin - 2);
    const CLI::Option* option = find_option(command, name);
    bool is_switch = option && option->get_expected_min() == 0;
    return fmt::format("{}: \"{}\" is not {}", shown_name(option, name), said.substr(end + 3),
                       is_switch ? "true or false" : value_wanted(option));
  }
  size_t end = std::min(said.find(": "), said.find(' '));
  std::string name = said.substr(0, end);
  const CLI::Option* option = find_option(command, name);
  std::string shown = shown_name(option, name);
  std::string rest = end == std::string::npos ? "" : said.substr(said[end] == ':' ? end + 2 : end + 1);
  if (kind == "RequiredError" && option)
    return name.starts_with("-") ? fmt::format("{} {} is missing", shown, type_of(*option))
                                 : fmt::format("{} is missing: {}", name, option->get_description());
  if (kind == "ArgumentMismatch") return mismatch_text(option, shown, rest);
  if (kind == "ValidationError") return validation_text(shown, rest);
  // "requires --name", "excludes --only"
  if (kind == "RequiresError") return fmt::format("{} needs {} as well", shown, rest.substr(rest.find(' ') + 1));
  if (kind == "ExcludesError")
    return fmt::format("{} and {} cannot be used together", shown, rest.substr(rest.find(' ') + 1));
  return said;
}

std::string what_is_wrong(const CLI::App& app, const CLI::App& command, const CLI::ParseError& error) {
  std::vector<std::string> left = app.remaining(true);
  if (left.empty()) return plain_text(command, error);
  const std::string& word = left.front();
  if (word.starts_with("-")) return unknown("flag", word.substr(0, word.find('=')), flag_names(command));
  if (&command != &app) return fmt::format("{} does not take the argument {}", full_name(command), word);
  return unknown("command", word, command_names(app));
}

}  // namespace

std::vector<std::string> without_help_command(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

std::optional<int> report_unknown_topic(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.size() < 2 || words.front() != "help" || words[1].starts_with("-")) return std::nullopt;
  std::vector<std::string> known = command_names(app);
  if (std::ranges::find(known, words[1]) != known.end()) return std::nullopt;
  report::print(stderr, fmt::format("error: {}\n  next      fairlead --help\n", unknown("command", words[1], known)));
  return kUsage;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  if (error.get_name() == "CallForVersion") {
    std::puts(error.what());
    return kDone;
  }
  if (error.get_exit_code() == 0) {
    std::string prefix = command->get_parent() ? full_name(*command->get_parent()) : "";
    std::fputs(command->help(prefix).c_str(), stdout);
    if (command->get_parent()) std::puts("\nGlobal flags: fairlead --help");
    return kDone;
  }
  report(Error(ErrorKind::invalid, what_is_wrong(app, *command, error)).next(full_name(*command) + " --help"));
  return kUsage;
}

}  // namespace fairlead::cli

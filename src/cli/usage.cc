#include "cli/usage.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/exit_code.h"

namespace fairlead::cli {
namespace {

// How many letters must be added, removed or replaced to make one of the other.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::string suggestion(const CLI::App& app, std::string_view word) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (distance(word, command->get_name()) <= 2) return fmt::format(" (did you mean {}?)", command->get_name());
  return "";
}

// "fairlead", "fairlead apply"
std::string full_name(const CLI::App& command) {
  if (!command.get_parent()) return command.get_name();
  return full_name(*command.get_parent()) + " " + command.get_name();
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) {
    bool no_command = app.get_subcommands().empty() && dynamic_cast<const CLI::RequiredError*>(&error);
    return no_command ? "a command is missing" : error.what();
  }
  if (unknown.front().starts_with("-")) return fmt::format("no such flag: {}", unknown.front());
  if (!app.get_subcommands().empty()) return fmt::format("one word too many: {}", unknown.front());
  return fmt::format("no such command: {}{}", unknown.front(), suggestion(app, unknown.front()));
}

}  // namespace

std::vector<std::string> without_help_command(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

int report_usage(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  if (error.get_exit_code() == 0) {
    std::string prefix = command->get_parent() ? full_name(*command->get_parent()) : "";
    std::fputs(command->help(prefix).c_str(), stdout);
    if (command->get_parent()) std::puts("\nGlobal flags: fairlead --help");
    return kDone;
  }
  std::fprintf(stderr, "error: %s\n  next      %s --help\n", what_is_wrong(app, error).c_str(),
               full_name(*command).c_str());
  return kUsage;
}

}  // namespace fairlead::cli

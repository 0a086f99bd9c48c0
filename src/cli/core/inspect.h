// Looks at commands and flags as the parser knows them, and at what was given on the command line: for completion, for
// errors, for fairlead.yaml and for plans. Commands themselves only describe their flags (flags.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/core/flags.h"

namespace fairlead::cli {

// A flag or an argument of a command. A copy looks at the same flag. Valid as long as the parser lives.
class FlagView {
 public:
  explicit FlagView(CLI::Option& option) : option_(&option) {}

  // "--filename", or "-v" without a long name; for an argument its name in the help.
  std::string name() const;
  // "--filename" and "-f", each possibly with others.
  std::vector<std::string> long_names() const;
  std::vector<std::string> short_names() const;
  // True for each of its names.
  bool is_named(const std::string& name) const;
  std::string description() const;
  // What the help says of its value: "FILE", "TEXT:{text,json}".
  std::string type() const;
  // The values that it can have, if they are listed.
  std::vector<std::string> choices() const;

  // It is found by its place, not by its name.
  bool is_argument() const;
  bool takes_value() const;
  // It takes as many values as there are.
  bool takes_several() const;
  // It may stand without a value.
  bool is_switch() const;

  bool is_given() const;
  std::vector<std::string> values() const;
  // A flag that cannot be used together with it was given.
  bool is_excluded() const;
  // Gives it the values, as if they had been on the command line. Only before the parser checks them.
  void give(const std::vector<std::string>& values) const;

 private:
  CLI::Option* option_;
};

// A command, or the whole command line. A copy looks at the same command. Valid as long as the parser lives.
class CommandView {
 public:
  CommandView(const Command& command) : app_(&command.app()) {}
  bool operator==(const CommandView&) const = default;

  std::string name() const;
  // "fairlead run status"
  std::string full_name() const;
  // "fairlead", or "kubectl fairlead"
  std::string root_name() const;
  std::string description() const;
  // The help does not list it.
  bool is_hidden() const;
  // The help, for a command that is called with `prefix` before its name.
  std::string help(const std::string& prefix) const;

  std::optional<CommandView> parent() const;
  std::vector<CommandView> subcommands() const;
  // The subcommand that was given.
  std::optional<CommandView> chosen() const;

  std::vector<FlagView> flags() const;
  // Finds a flag ("--name", "-n") or an argument ("NAME") of this command.
  std::optional<FlagView> find(const std::string& name) const;
  // The words that neither it nor its subcommands could use.
  std::vector<std::string> unused_words() const;

 private:
  CLI::App* app_;
};

}  // namespace fairlead::cli

// Describes a command and its flags to the parser.
//
// The parser, CLI11, is made of headers alone, and a file that includes them takes five seconds to compile. Commands
// therefore include this header instead.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fairlead::cli {

// A flag or an argument of a command. A copy is the same flag.
class Flag {
 public:
  explicit Flag(CLI::Option* option) : option_(option) {}

  // What the help calls its value, such as FILE.
  Flag& value(std::string name);
  Flag& one_of(std::initializer_list<std::string> values);
  // From `least` to `most`, both included.
  template <typename Number>
  Flag& between(Number least, Number most);
  Flag& positive();
  // May be given several times, with one value each.
  Flag& repeatable();
  // The help shows the value that it has now.
  Flag& show_default();
  Flag& required();
  // It cannot be given without the other, or together with it.
  Flag& needs(Flag other);
  Flag& needs(const std::string& other);
  Flag& excludes(Flag other);
  // The heading under which the help has it; with an empty one, the help does not have it.
  Flag& group(const std::string& heading);

 private:
  CLI::Option* option_;
};

// A command, or the whole command line. A copy is the same command.
class Command {
 public:
  Command(CLI::App& app) : app_(&app) {}

  CLI::App& app() const { return *app_; }
  std::string name() const;

  Command subcommand(const std::string& name, const std::string& description) const;
  // The command does nothing by itself.
  void requires_subcommand() const;

  // `names` are like "-f,--filename", or "NAME" for an argument. Writes to `target` while the command line is parsed.
  // The types are those that flags.cc lists.
  template <typename Target>
  Flag option(const std::string& names, Target& target, const std::string& description) const;
  Flag flag(const std::string& names, bool& target, const std::string& description) const;

  void version_flag(const std::string& names, const std::string& version, const std::string& description) const;

  // The end of its help.
  void footer(const std::string& text) const;
  // Called when the command line has been parsed and names this command.
  void when_chosen(std::function<void()> callback) const;

 private:
  CLI::App* app_;
};

}  // namespace fairlead::cli

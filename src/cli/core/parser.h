// Parses a command line. Commands describe themselves to it with flags.h; inspect.h shows what came of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/core/flags.h"

namespace fairlead::cli {

// What the parser stopped at.
struct ParseFailure {
  // As the parser calls it, such as "RequiredError"; "CallForVersion" for --version.
  std::string kind;
  // In the parser's own words.
  std::string text;
  // The help or the version was asked for: nothing is wrong.
  bool is_wish = false;
};

class Parser {
 public:
  explicit Parser(const std::string& description = "", const std::string& name = "");
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // The whole command line. Valid as long as the parser lives.
  Command root() const;

  // The command line has to name a subcommand, and flags of the root may stand behind it.
  void expect_subcommand();
  // Words that nobody has described are left out, --help among them.
  void pass_over_unknown_words();

  // Adds a flag that names a file, with a default. `read` gets the file's name, whether the command line names it, and
  // the text; it is called if the file exists, after all words were read and before anything is checked, so that it can
  // give values to flags.
  void add_file_flag(const std::string& name, const std::string& file, const std::string& description,
                     std::function<void(const std::string& file, bool is_named, std::string text)> read);

  // Returns nothing if everything is right.
  std::optional<ParseFailure> parse(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace fairlead::cli

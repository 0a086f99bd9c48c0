#include "cli/core/parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <iterator>

namespace fairlead::cli {
namespace {

// The width of the column with the names of flags in the help.
constexpr size_t kNames = 42;

using FileReader = std::function<void(const std::string& file, bool is_named, std::string text)>;

// CLI11 calls this at the right moment: after it has read the words, and before it checks what is required.
class FileFlag final : public CLI::Config {
 public:
  FileFlag(const CLI::App& app, FileReader read) : app_(app), read_(std::move(read)) {}

  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const CLI::Option& flag = *app_.get_config_ptr();
    read_(flag.as<std::string>(), flag.count() > 0, std::string(std::istreambuf_iterator<char>(input), {}));
    return {};
  }

 private:
  const CLI::App& app_;
  FileReader read_;
};

}  // namespace

Parser::Parser(const std::string& description, const std::string& name)
    : app_(std::make_unique<CLI::App>(description, name)) {}

Parser::~Parser() = default;

Command Parser::root() const { return {*app_}; }

void Parser::expect_subcommand() {
  app_->require_subcommand(1);
  app_->fallthrough();
  app_->get_formatter()->column_width(kNames);
}

void Parser::pass_over_unknown_words() {
  app_->set_help_flag();
  app_->allow_extras();
}

void Parser::add_file_flag(const std::string& name, const std::string& file, const std::string& description,
                           FileReader read) {
  app_->set_config(name, file, description)->group("Global flags")->type_name("FILE");
  app_->config_formatter(std::make_shared<FileFlag>(*app_, std::move(read)));
}

std::optional<ParseFailure> Parser::parse(std::vector<std::string> words) {
  // CLI11 takes its words from the back.
  std::ranges::reverse(words);
  try {
    app_->parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return ParseFailure{.kind = error.get_name(), .text = error.what(), .is_wish = error.get_exit_code() == 0};
  }
  return std::nullopt;
}

}  // namespace fairlead::cli

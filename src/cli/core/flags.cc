#include "cli/core/flags.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <vector>

namespace fairlead::cli {

Flag& Flag::value(std::string name) {
  option_->type_name(std::move(name));
  return *this;
}

Flag& Flag::one_of(std::initializer_list<std::string> values) {
  option_->check(CLI::IsMember(std::vector<std::string>(values)));
  return *this;
}

template <typename Number>
Flag& Flag::between(Number least, Number most) {
  option_->check(CLI::Range(least, most));
  return *this;
}
template Flag& Flag::between(int, int);
template Flag& Flag::between(int64_t, int64_t);
template Flag& Flag::between(double, double);

Flag& Flag::positive() {
  auto check = [](const std::string& text) {
    int64_t number = 0;
    bool is_positive = CLI::detail::lexical_cast(text, number) && number > 0;
    return is_positive ? "" : "\"" + text + "\" is not a whole number above 0";
  };
  option_->check(CLI::Validator("POSITIVE").operation(check));
  return *this;
}

Flag& Flag::repeatable() {
  option_->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Flag& Flag::show_default() {
  option_->capture_default_str();
  return *this;
}

Flag& Flag::required() {
  option_->required();
  return *this;
}

Flag& Flag::needs(Flag other) {
  option_->needs(other.option_);
  return *this;
}

Flag& Flag::needs(const std::string& other) {
  option_->needs(other);
  return *this;
}

Flag& Flag::excludes(Flag other) {
  option_->excludes(other.option_);
  return *this;
}

Flag& Flag::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

std::string Command::name() const { return app_->get_name(); }

Command Command::subcommand(const std::string& name, const std::string& description) const {
  return {*app_->add_subcommand(name, description)};
}

void Command::requires_subcommand() const { app_->require_subcommand(1); }

template <typename Target>
Flag Command::option(const std::string& names, Target& target, const std::string& description) const {
  return Flag(app_->add_option(names, target, description));
}
template Flag Command::option(const std::string&, std::string&, const std::string&) const;
template Flag Command::option(const std::string&, std::vector<std::string>&, const std::string&) const;
template Flag Command::option(const std::string&, int&, const std::string&) const;
template Flag Command::option(const std::string&, int64_t&, const std::string&) const;
template Flag Command::option(const std::string&, uint16_t&, const std::string&) const;
template Flag Command::option(const std::string&, uint64_t&, const std::string&) const;
template Flag Command::option(const std::string&, double&, const std::string&) const;

Flag Command::flag(const std::string& names, bool& target, const std::string& description) const {
  return Flag(app_->add_flag(names, target, description));
}

void Command::version_flag(const std::string& names, const std::string& version, const std::string& description) const {
  app_->set_version_flag(names, version, description);
}

void Command::footer(const std::string& text) const { app_->footer(text); }

void Command::when_chosen(std::function<void()> callback) const { app_->callback(std::move(callback)); }

}  // namespace fairlead::cli

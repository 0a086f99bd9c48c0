#include "cli/core/inspect.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "report/program_name.h"

namespace fairlead::cli {
namespace {

std::vector<std::string> with_prefix(const char* prefix, const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) all.push_back(prefix + name);
  return all;
}

}  // namespace

std::string FlagView::name() const {
  if (is_argument()) return option_->get_name(true);
  return option_->get_lnames().empty() ? short_names().front() : long_names().front();
}

std::vector<std::string> FlagView::long_names() const { return with_prefix("--", option_->get_lnames()); }

std::vector<std::string> FlagView::short_names() const { return with_prefix("-", option_->get_snames()); }

bool FlagView::is_named(const std::string& name) const {
  return option_->get_name() == name || option_->check_name(name);
}

std::string FlagView::description() const { return option_->get_description(); }

std::string FlagView::type() const { return option_->get_type_name(); }

// A check for membership describes itself as "{text,json}" in the option's type.
std::vector<std::string> FlagView::choices() const {
  std::string text = type();
  size_t open = text.find('{'), close = text.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(text.substr(open + 1, close - open - 1), ',');
}

bool FlagView::is_argument() const { return !option_->nonpositional(); }

bool FlagView::takes_value() const { return option_->get_items_expected_max() > 0; }

bool FlagView::takes_several() const { return option_->get_items_expected_max() > 1; }

bool FlagView::is_switch() const { return option_->get_expected_min() == 0; }

bool FlagView::is_given() const { return !option_->empty(); }

std::vector<std::string> FlagView::values() const { return option_->results(); }

bool FlagView::is_excluded() const {
  return std::ranges::any_of(option_->get_excludes(), [](const CLI::Option* other) { return !other->empty(); });
}

void FlagView::give(const std::vector<std::string>& values) const {
  for (const std::string& value : values) option_->add_result(value);
}

std::string CommandView::name() const { return app_->get_name(); }

std::string CommandView::full_name() const {
  std::optional<CommandView> above = parent();
  return above ? above->full_name() + " " + name() : name();
}

std::string CommandView::root_name() const {
  std::optional<CommandView> above = parent();
  return above ? above->root_name() : name();
}

std::string CommandView::description() const { return app_->get_description(); }

bool CommandView::is_hidden() const { return app_->get_group().empty(); }

std::string CommandView::help(const std::string& prefix) const {
  return report::with_program_name(app_->help(prefix), root_name());
}

std::optional<CommandView> CommandView::parent() const {
  if (!app_->get_parent()) return std::nullopt;
  return Command(*app_->get_parent());
}

std::vector<CommandView> CommandView::subcommands() const {
  std::vector<CommandView> all;
  for (CLI::App* one : app_->get_subcommands([](const CLI::App*) { return true; })) all.emplace_back(Command(*one));
  return all;
}

std::optional<CommandView> CommandView::chosen() const {
  if (app_->get_subcommands().empty()) return std::nullopt;
  return Command(*app_->get_subcommands().front());
}

std::vector<FlagView> CommandView::flags() const {
  std::vector<FlagView> all;
  for (CLI::Option* option : app_->get_options()) all.emplace_back(*option);
  return all;
}

std::optional<FlagView> CommandView::find(const std::string& name) const {
  CLI::Option* option = app_->get_option_no_throw(name);
  if (!option) return std::nullopt;
  return FlagView(*option);
}

std::vector<std::string> CommandView::unused_words() const { return app_->remaining(true); }

}  // namespace fairlead::cli

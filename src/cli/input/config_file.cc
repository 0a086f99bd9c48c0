#include "cli/input/config_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <istream>
#include <iterator>

#include "config/config.h"

namespace fairlead::cli {
namespace {

// The parser calls this at the right moment: after it has read the words, and before it checks what is required.
class ConfigFile final : public CLI::Config {
 public:
  ConfigFile(CLI::App& app, Invocation& invocation, std::vector<Error>& errors)
      : app_(app), invocation_(invocation), errors_(errors) {}

  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    if (app_.get_subcommands().empty()) return {};
    CLI::App& command = *app_.get_subcommands().front();
    if (!is_for(command) || (!is_asked_for() && names_something(command))) return {};
    std::string text(std::istreambuf_iterator<char>(input), {});
    auto parsed = config::parse(text, app_.get_config_ptr()->as<std::string>());
    if (!parsed) {
      errors_ = std::move(parsed).error();
      return {};
    }
    use(*std::move(parsed), command);
    return {};
  }

 private:
  bool is_asked_for() const { return app_.get_config_ptr()->count() > 0; }

  static CLI::Option* name_option(CLI::App& command) {
    if (CLI::Option* option = command.get_option_no_throw("--name")) return option;
    return command.get_option_no_throw("NAME");
  }

  static bool is_for(CLI::App& command) {
    return command.get_option_no_throw("--filename") != nullptr || name_option(command) != nullptr;
  }

  // A name says which bundle is meant, unless the command cannot do without manifests.
  static bool is_enough_with_name(const CLI::App& command) {
    constexpr std::string_view kNeedManifests[] = {"apply", "plan", "diff", "graph"};
    return std::ranges::find(kNeedManifests, command.get_name()) == std::end(kNeedManifests);
  }

  static bool names_something(const CLI::App& command) {
    bool name_counts = is_enough_with_name(command);
    return std::ranges::any_of(command.get_options(), [&](const CLI::Option* option) {
      bool names = option->get_positional() || option->check_lname("filename") || option->check_lname("kustomize") ||
                   option->check_lname("chart") || (name_counts && option->check_lname("name"));
      return names && !option->empty();
    });
  }

  // Gives the option its values, unless it has some, or is excluded by one that was given.
  static void fill(CLI::Option* option, const std::vector<std::string>& values) {
    if (!option || !option->empty() || values.empty()) return;
    auto is_given = [](const CLI::Option* other) { return !other->empty(); };
    if (std::ranges::any_of(option->get_excludes(), is_given)) return;
    for (const std::string& value : values) option->add_result(value);
  }

  void use(config::Config config, CLI::App& command) const {
    auto fill_switch = [&](const char* name, std::optional<bool> value) {
      if (value.value_or(false)) fill(command.get_option_no_throw(name), {"true"});
    };
    auto text = [](const std::string& value) {
      return value.empty() ? std::vector<std::string>() : std::vector<std::string>{value};
    };
    std::string name = config.name;
    if (name.empty() && config.charts.size() == 1) name = config.charts.front().release;
    fill(name_option(command), text(name));
    fill(app_.get_option_no_throw("--namespace"), text(config.ns));
    fill_switch("--recursive", config.recursive);
    fill_switch("--prune", config.prune);
    fill_switch("--create-namespace", config.create_namespace);
    // How long an object may take to become ready says nothing about how long its deletion may take.
    if (command.get_name() != "delete") {
      std::vector<std::string> timeouts;
      for (const auto& [kind, time] : config.timeout_for) timeouts.push_back(fmt::format("{}={}", kind, time));
      fill(command.get_option_no_throw("--timeout"), text(config.timeout));
      fill(command.get_option_no_throw("--timeout-for"), timeouts);
    }
    invocation_.globals.allowed_contexts = config.contexts;
    invocation_.globals.allowed_at = config.contexts_at;
    invocation_.config = std::move(config);
  }

  CLI::App& app_;
  Invocation& invocation_;
  std::vector<Error>& errors_;
};

}  // namespace

void add_config(CLI::App& app, Invocation& invocation, std::vector<Error>& errors) {
  app.set_config("--config", kConfigFile, "File that describes the bundle")->group("Global flags")->type_name("FILE");
  app.config_formatter(std::make_shared<ConfigFile>(app, invocation, errors));
}

}  // namespace fairlead::cli

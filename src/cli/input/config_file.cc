#include "cli/input/config_file.h"

#include <algorithm>

#include "cli/core/inspect.h"
#include "config/config.h"

namespace fairlead::cli {
namespace {

std::optional<FlagView> name_flag(const CommandView& command) {
  std::optional<FlagView> flag = command.find("--name");
  return flag ? flag : command.find("NAME");
}

bool is_for(const CommandView& command) { return command.find("--filename") || name_flag(command); }

// A name says which bundle is meant, unless the command cannot do without manifests.
bool is_enough_with_name(const CommandView& command) {
  constexpr std::string_view kNeedManifests[] = {"apply", "plan", "diff", "graph"};
  return std::ranges::find(kNeedManifests, command.name()) == std::end(kNeedManifests);
}

bool names_something(const CommandView& command) {
  bool name_counts = is_enough_with_name(command);
  return std::ranges::any_of(command.flags(), [&](const FlagView& flag) {
    bool names = flag.is_argument() || flag.is_named("--filename") || flag.is_named("--kustomize") ||
                 flag.is_named("--chart") || (name_counts && flag.is_named("--name"));
    return names && flag.is_given();
  });
}

// Gives the flag its values, unless it has some, or is excluded by one that was given.
void fill(const std::optional<FlagView>& flag, const std::vector<std::string>& values) {
  if (flag && !flag->is_given() && !flag->is_excluded()) flag->give(values);
}

void fill_all(const config::Config& config, const CommandView& program, const CommandView& command) {
  auto fill_switch = [&](const char* name, std::optional<bool> value) {
    if (value.value_or(false)) fill(command.find(name), {"true"});
  };
  auto text = [](const std::string& value) {
    return value.empty() ? std::vector<std::string>() : std::vector<std::string>{value};
  };
  std::string name = config.name;
  if (name.empty() && config.charts.size() == 1) name = config.charts.front().release;
  fill(name_flag(command), text(name));
  fill(program.find("--namespace"), text(config.ns));
  fill_switch("--recursive", config.recursive);
  fill_switch("--prune", config.prune);
  fill_switch("--create-namespace", config.create_namespace);
  // How long an object may take to become ready says nothing about how long its deletion may take.
  if (command.name() == "delete") return;
  std::vector<std::string> timeouts;
  for (const auto& [kind, time] : config.timeout_for) timeouts.push_back(fmt::format("{}={}", kind, time));
  fill(command.find("--timeout"), text(config.timeout));
  fill(command.find("--timeout-for"), timeouts);
}

}  // namespace

void add_config(Parser& parser, Invocation& invocation, std::vector<Error>& errors) {
  CommandView program(parser.root());
  auto read = [program, &invocation, &errors](const std::string& file, bool is_named, const std::string& content) {
    std::optional<CommandView> command = program.chosen();
    if (!command || !is_for(*command) || (!is_named && names_something(*command))) return;
    auto parsed = config::parse(content, file);
    if (!parsed) {
      errors = std::move(parsed).error();
      return;
    }
    fill_all(*parsed, program, *command);
    invocation.globals.allowed_contexts = parsed->contexts;
    invocation.globals.allowed_at = parsed->contexts_at;
    invocation.config = *std::move(parsed);
  };
  parser.add_file_flag("--config", kConfigFile, "File that describes the bundle", std::move(read));
}

}  // namespace fairlead::cli

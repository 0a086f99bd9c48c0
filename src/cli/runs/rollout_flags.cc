#include "cli/runs/rollout_flags.h"

#include "cli/core/exit_code.h"
#include "cli/runs/timeouts.h"
#include "inventory/holder.h"
#include "inventory/inventory.h"

namespace fairlead::cli {
namespace {

constexpr int kMostInFlight = 10000;

void add_bundle_flags(Command command, RolloutFlags& flags) {
  command.option("--name", flags.name, "Name of the bundle; keeps an inventory of its objects in the cluster")
      .value("NAME");
  Flag prune =
      command.flag("--prune", flags.prune, "Delete objects that are no longer part of the bundle").needs("--name");
  command
      .flag("--with-contents", flags.with_contents,
            "Prune namespaces and CRDs even if they contain objects of others; never objects of other bundles")
      .needs(prune);
  command
      .option("--only", flags.only, "Apply only these objects: KIND, KIND/NAME, or a label selector; may be repeated")
      .value("WHAT")
      .repeatable()
      .excludes(prune);
  command.option("--skip", flags.skip, "Do not apply these objects; may be repeated")
      .value("WHAT")
      .repeatable()
      .excludes(prune);
  command.flag("--adopt", flags.adopt, "Move objects of other bundles to this bundle").needs("--name");
}

}  // namespace

void add_rollout_flags(Command command, RolloutFlags& flags) {
  add_source_flags(command, flags.sources);
  add_bundle_flags(command, flags);
  command.flag("--create-namespace", flags.create_namespace, "Create the namespace of -n if it does not exist");
  add_timeout_flag(command, flags.timeout);
  command.option("--field-manager", flags.field_manager, "Name of the field manager").value("NAME").show_default();
  command.flag("--force-conflicts", flags.force_conflicts,
               "Take over fields of other field managers; never those of objects of other bundles");
  command
      .option("--concurrency", flags.concurrency,
              "Maximum number of concurrent requests; 0 adapts it to the API server")
      .between(0, kMostInFlight)
      .value("N");
}

Result<rollout::Options> rollout_options(const RolloutFlags& flags) {
  rollout::Options options;
  options.name = bundle_name(flags.name, flags.sources);
  options.create_namespace = flags.create_namespace;
  options.field_manager = flags.field_manager;
  options.force_conflicts = flags.force_conflicts;
  options.adopt = flags.adopt;
  options.prune = flags.prune;
  options.with_contents = flags.with_contents;
  options.is_partial = !flags.only.empty() || !flags.skip.empty();
  options.concurrency = flags.concurrency;
  inventory::sign(options);
  if (!options.name.empty()) TRY(inventory::check_name(options.name));
  TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  return options;
}

}  // namespace fairlead::cli

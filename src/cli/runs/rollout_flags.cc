#include "cli/runs/rollout_flags.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/core/exit_code.h"
#include "cli/runs/holder.h"
#include "cli/runs/timeouts.h"
#include "inventory/inventory.h"

namespace fairlead::cli {
namespace {

using rollout::Ending;

constexpr int kMostInFlight = 10000;

void add_bundle_flags(CLI::App& command, RolloutFlags& flags) {
  auto many = CLI::MultiOptionPolicy::TakeAll;
  command.add_option("--name", flags.name, "Name of the bundle; keeps an inventory of its objects in the cluster")
      ->type_name("NAME");
  CLI::Option* prune =
      command.add_flag("--prune", flags.prune, "Delete objects that are no longer part of the bundle")->needs("--name");
  command
      .add_flag("--with-contents", flags.with_contents,
                "Prune namespaces and CRDs even if they contain objects of others; never objects of other bundles")
      ->needs(prune);
  command
      .add_option("--only", flags.only,
                  "Apply only these objects: KIND, KIND/NAME, or a label selector; may be repeated")
      ->type_name("WHAT")
      ->expected(1)
      ->multi_option_policy(many)
      ->excludes(prune);
  command.add_option("--skip", flags.skip, "Do not apply these objects; may be repeated")
      ->type_name("WHAT")
      ->expected(1)
      ->multi_option_policy(many)
      ->excludes(prune);
  command.add_flag("--adopt", flags.adopt, "Move objects of other bundles to this bundle")->needs("--name");
}

}  // namespace

void add_rollout_flags(CLI::App& command, RolloutFlags& flags) {
  add_source_flags(command, flags.sources);
  add_bundle_flags(command, flags);
  command.add_flag("--create-namespace", flags.create_namespace, "Create the namespace of -n if it does not exist");
  command.add_option("--timeout", flags.timeout, "Time limit for the whole run; 0 for no limit")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_option("--field-manager", flags.field_manager, "Name of the field manager")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--force-conflicts", flags.force_conflicts,
                   "Take over fields of other field managers; never those of objects of other bundles");
  command
      .add_option("--concurrency", flags.concurrency,
                  "Maximum number of concurrent requests; 0 adapts it to the API server")
      ->check(CLI::Range(0, kMostInFlight))
      ->type_name("N");
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
  options.run = run_of(::getpid());
  options.run_known_dead = is_gone_run;
  options.holder = own_holder();
  options.origin = origin_of(::getpid());
  options.known_dead = is_gone;
  if (!options.name.empty()) TRY(inventory::check_name(options.name));
  TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  return options;
}

int exit_code(Ending::How how) {
  switch (how) {
    case Ending::How::done: return kDone;
    case Ending::How::failed: return kFailed;
    case Ending::How::timed_out: return kTimedOut;
    case Ending::How::conflicts: return kConflicts;
    case Ending::How::interrupted: return kInterrupted;
  }
  return kFailed;
}

}  // namespace fairlead::cli

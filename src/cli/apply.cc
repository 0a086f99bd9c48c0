#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "async/interrupt.h"
#include "cli/command.h"
#include "cli/connect.h"
#include "cli/holder.h"
#include "cli/run_journal.h"
#include "cli/selection.h"
#include "cli/sources.h"
#include "cli/timeouts.h"
#include "inventory/inventory.h"
#include "report/rollout_report.h"

namespace fairlead::cli {
namespace {

using rollout::Ending;

constexpr int kMostInFlight = 10000;

struct ApplyFlags {
  SourceFlags sources;
  std::string name;
  bool create_namespace = false;
  bool prune = false;
  bool with_contents = false;
  bool no_wait = false;
  std::string timeout = "15m";
  std::vector<std::string> timeout_for;
  std::string field_manager = "fairlead";
  bool force_conflicts = false;
  bool adopt = false;
  std::string dry_run = "none";
  std::vector<std::string> only;
  std::vector<std::string> skip;
  size_t concurrency = 0;
  std::string ignore_policy = "standard";
  std::string output = "text";
  RunJournal::Files files;
};

rollout::IgnorePolicy ignore_policy_of(const std::string& name) {
  if (name == "wait") return rollout::IgnorePolicy::wait;
  return name == "warn" ? rollout::IgnorePolicy::warn : rollout::IgnorePolicy::standard;
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

Result<rollout::Options> options_of(const ApplyFlags& flags) {
  rollout::Options options;
  options.name = bundle_name(flags.name, flags.sources);
  options.create_namespace = flags.create_namespace;
  options.field_manager = flags.field_manager;
  options.force_conflicts = flags.force_conflicts;
  options.adopt = flags.adopt;
  options.dry_run = flags.dry_run == "server";
  options.prune = flags.prune;
  options.with_contents = flags.with_contents;
  options.wait = !flags.no_wait;
  options.concurrency = flags.concurrency;
  options.ignore_policy = ignore_policy_of(flags.ignore_policy);
  options.run = run_of(::getpid());
  options.run_known_dead = is_gone_run;
  options.holder = own_holder();
  options.origin = origin_of(::getpid());
  options.known_dead = is_gone;
  if (!options.name.empty()) TRY(inventory::check_name(options.name));
  TRY_ASSIGN(options.timeout, read_duration("--timeout", flags.timeout));
  TRY_ASSIGN(options.timeout_for, read_timeouts(flags.timeout_for, "fairlead apply … --timeout-for Job=30m"));
  return options;
}

Task<int> apply(RealLoop& loop, const Invocation& invocation, const ApplyFlags& flags, CancelSource& stop) {
  Result<rollout::Options> options = options_of(flags);
  if (!options) {
    report(options.error());
    co_return kUsage;
  }
  auto journal = RunJournal::open(loop.clock(), flags.files);
  if (!journal) co_return report(journal.error());
  auto bundle = co_await read_sources(loop, invocation, flags.sources,
                                      {.name = options->name, .timeout = options->timeout, .stop = &stop});
  if (!bundle) co_return bundle.error();
  if (Result<void> selected = select(*bundle, flags.only, flags.skip); !selected) co_return report(selected.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  options->default_namespace = (*cluster)->default_namespace();
  options->namespace_is_chosen = !invocation.globals.namespace_name.empty();

  report::RolloutReport shown(report::Output(report::format_of(flags.output)), options->dry_run);
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); });
  Ending ending = co_await rollout::roll_out((*cluster)->client(), (*cluster)->discovery(), *std::move(bundle),
                                             *std::move(options), (*journal)->journal(), &stop);
  shown.finish(ending);
  co_await (*cluster)->close();
  co_return (*journal)->close(exit_code(ending.how));
}

void add_flags(CLI::App& command, ApplyFlags& flags) {
  auto many = CLI::MultiOptionPolicy::TakeAll;
  add_source_flags(command, flags.sources);
  command.add_option("--name", flags.name, "The bundle's name: keeps an inventory in the cluster")->type_name("NAME");
  CLI::Option* prune =
      command.add_flag("--prune", flags.prune, "Remove what the bundle had before and has no more")->needs("--name");
  command
      .add_flag("--with-contents", flags.with_contents,
                "Prune namespaces and CRDs with what others made in them; not with objects of other bundles")
      ->needs(prune);
  command.add_flag("--create-namespace", flags.create_namespace, "Create the namespace of -n if it is not there");
  command.add_flag("--no-wait", flags.no_wait, "End when everything is stored, not when it is ready");
  command.add_option("--timeout", flags.timeout, "For all of it; 0 for no limit")
      ->type_name("DURATION")
      ->capture_default_str();
  command.add_option("--timeout-for", flags.timeout_for, "For each object of a kind; may be repeated")
      ->type_name("KIND=DURATION")
      ->expected(1)
      ->multi_option_policy(many);
  command.add_option("--field-manager", flags.field_manager, "Name under which the fields are owned")
      ->type_name("NAME")
      ->capture_default_str();
  command.add_flag("--force-conflicts", flags.force_conflicts,
                   "Take over fields that another manager owns; not those of objects of other bundles");
  command.add_flag("--adopt", flags.adopt, "Move objects that belong to another bundle to this one")->needs("--name");
  command.add_option("--dry-run", flags.dry_run, "With `server`, the API server checks everything and stores nothing")
      ->check(CLI::IsMember({"none", "server"}));
  command.add_option("--only", flags.only, "Only these: KIND, KIND/NAME, or a label selector; may be repeated")
      ->type_name("WHAT")
      ->expected(1)
      ->multi_option_policy(many)
      ->excludes(prune);
  command.add_option("--skip", flags.skip, "All but these; may be repeated")
      ->type_name("WHAT")
      ->expected(1)
      ->multi_option_policy(many)
      ->excludes(prune);
  command
      .add_option("--concurrency", flags.concurrency,
                  "The most requests in flight; 0 for as many as the server takes well")
      ->check(CLI::Range(0, kMostInFlight))
      ->type_name("N");
  command
      .add_option(
          "--ignore-policy", flags.ignore_policy,
          "Objects guarded by a webhook that ignores failures and does not answer: wait, warn, or standard (wait for "
          "webhooks of the bundle)")
      ->check(CLI::IsMember({"standard", "wait", "warn"}));
  command.add_option("-o,--output", flags.output, "What to print: text, json, jsonl or quiet")
      ->check(CLI::IsMember({"text", "json", "jsonl", "quiet"}));
  add_journal_flags(command, flags.files);
}

}  // namespace

void add_apply(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command =
      app.add_subcommand("apply", "Roll manifests out, in the order in which the cluster can take them");
  add_flags(*command, *flags);
  command->footer(
      "Examples:\n"
      "  fairlead apply -f k8s/\n"
      "  fairlead apply -R -f deploy/ --name shop --prune\n"
      "  fairlead apply --chart ./chart --name shop -- --set replicas=3\n"
      "  fairlead apply -k overlays/prod --name shop\n"
      "  fairlead apply                        # what fairlead.yaml says\n\n"
      "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 wrong command line, 130 interrupted.");
  command->callback([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      RealLoop loop;
      CancelSource stop;
      Interrupt interrupt(loop, stop);
      return loop.run(apply(loop, invocation, *flags, stop));
    };
  });
}

}  // namespace fairlead::cli

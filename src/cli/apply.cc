#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/interrupt.h"
#include "cli/apply_output.h"
#include "cli/apply_run.h"
#include "cli/command.h"
#include "cli/connect.h"
#include "cli/fetch.h"

namespace fairlead::cli {
namespace {

struct ApplyFlags {
  std::vector<std::string> sources;
  bool recursive = false;
  std::string field_manager = "fairlead";
  bool force_conflicts = false;
  std::string dry_run = "none";
  std::string output = "text";
};

OutputFormat format_of(const std::string& name) {
  if (name == "json") return OutputFormat::json;
  if (name == "jsonl") return OutputFormat::jsonl;
  return name == "quiet" ? OutputFormat::quiet : OutputFormat::text;
}

int report_all(const manifest::Errors& errors) {
  for (const Error& error : errors) report(error);
  return kFailed;
}

int exit_code(const ApplyOutput& output, const Result<void>& sent) {
  if (!sent && sent.error().kind() == ErrorKind::cancelled) return kInterrupted;
  if (!sent) return sent.error().kind() == ErrorKind::timeout ? kTimedOut : kFailed;
  if (output.count(Applied::Outcome::refused) == 0) return kDone;
  return output.only_conflicts() ? kConflicts : kFailed;
}

Task<int> apply_bundle(Cluster& cluster, const ApplyFlags& flags, const Globals& globals, manifest::Bundle& bundle) {
  ApplyPlan plan{.field_manager = flags.field_manager,
                 .force = flags.force_conflicts,
                 .dry_run = flags.dry_run == "server",
                 .default_namespace = cluster.default_namespace(),
                 .namespace_is_chosen = !globals.namespace_name.empty()};
  TimePoint started = cluster.loop().now();
  Result<manifest::Errors> mistakes = co_await prepare(cluster.discovery(), plan, bundle);
  if (!mistakes) co_return report(mistakes.error());
  if (!mistakes->empty()) co_return report_all(*mistakes);
  ApplyOutput output(format_of(flags.output), plan.dry_run, bundle.objects);
  Result<void> sent = co_await send_all(cluster.client(), cluster.discovery(), plan, bundle, output);
  std::optional<Error> trouble;
  if (!sent)
    trouble = sent.error().kind() == ErrorKind::cancelled ? Error(ErrorKind::cancelled, "interrupted") : sent.error();
  output.finish(cluster.loop().now() - started, cluster.requests(), trouble);
  co_return exit_code(output, sent);
}

Task<int> apply(RealLoop& loop, const Globals& globals, const ApplyFlags& flags) {
  manifest::Options options{.recursive = flags.recursive};
  options.fetch = [&loop](std::string address, size_t max_bytes) { return fetch(loop, std::move(address), max_bytes); };
  auto bundle = co_await manifest::read(flags.sources, std::move(options));
  if (!bundle) co_return report_all(bundle.error());
  Result<std::unique_ptr<Cluster>> cluster = Cluster::connect(loop, globals);
  if (!cluster) co_return report(cluster.error());
  int code = co_await apply_bundle(**cluster, flags, globals, *bundle);
  co_await (*cluster)->close();
  co_return code;
}

}  // namespace

void add_apply(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ApplyFlags>();
  CLI::App* command = app.add_subcommand("apply", "Server-side apply manifests, in the order given");
  command
      ->add_option("-f,--filename", flags->sources,
                   "File, folder, http(s) address, or - for standard input; may be repeated")
      ->required()
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_flag("-R,--recursive", flags->recursive, "Read folders with everything below them");
  command->add_option("--field-manager", flags->field_manager, "Name under which the fields are owned")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_flag("--force-conflicts", flags->force_conflicts, "Take over fields that another manager owns");
  command->add_option("--dry-run", flags->dry_run, "With `server`, the API server checks everything and stores nothing")
      ->check(CLI::IsMember({"none", "server"}));
  command->add_option("-o,--output", flags->output, "What to print: text, json, jsonl or quiet")
      ->check(CLI::IsMember({"text", "json", "jsonl", "quiet"}));
  command->footer(
      "Examples:\n"
      "  fairlead apply -f k8s/\n"
      "  fairlead apply -R -f deploy/ -f extra.yaml --dry-run=server\n"
      "  helm template my-release chart/ | fairlead apply -f -\n\n"
      "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 wrong command line, 130 interrupted.");
  command->callback([&invocation, flags] {
    invocation.run = [&invocation, flags] {
      RealLoop loop;
      CancelSource stop;
      Interrupt interrupt(loop, stop);
      return loop.run(apply(loop, invocation.globals, *flags).governed_by(&stop));
    };
  });
}

}  // namespace fairlead::cli

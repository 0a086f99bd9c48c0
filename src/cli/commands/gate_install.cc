#include <cstdio>

#include "base/version.h"
#include "cli/commands/gate.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/output/output_flags.h"
#include "cli/output/run_journal.h"
#include "cli/runs/timeouts.h"
#include "diff/yaml_text.h"
#include "gate/install/manifests.h"
#include "gate/rules/registration.h"
#include "gate/server/reach.h"
#include "gate/server/registrations.h"
#include "inventory/holder.h"
#include "kube/faults/fault.h"
#include "report/removal_report.h"
#include "report/rollout_report.h"

namespace fairlead::cli {
namespace {

struct GateInstallFlags {
  gate::InstallSettings settings;
  std::string format = "yaml";
  OutputFlags output;
  std::string timeout = "5m";
  bool left_behind = false;

  GateInstallFlags() { settings.image = fmt::format("fairlead:{}", program_version()); }
};

gate::InstallSettings settings_in(const Invocation& invocation, const GateInstallFlags& flags) {
  gate::InstallSettings settings = flags.settings;
  settings.ns = gate_namespace(invocation);
  return settings;
}

// A gate that does not start would say the same too late.
Result<void> check_settings(const gate::InstallSettings& settings) {
  for (const auto& [flag, text] :
       {std::pair("--patience", settings.patience), std::pair("--patience-gone", settings.patience_gone),
        std::pair("--patience-service-accounts", settings.patience_service_accounts)})
    if (!text.empty()) TRY(read_duration(flag, text));
  return gate::check(settings);
}

Result<manifest::Bundle> bundle_of(const gate::InstallSettings& settings) {
  manifest::Bundle bundle;
  for (Json& object : gate::manifests(settings)) {
    TRY_ASSIGN(object::Object made, object::Object::from(std::move(object), {.file = "fairlead gate manifests"}));
    bundle.objects.push_back(std::move(made));
  }
  return bundle;
}

Task<int> install_gate(RealLoop& loop, CancelSource& stop, const Invocation& invocation,
                       const GateInstallFlags& flags) {
  gate::InstallSettings settings = settings_in(invocation, flags);
  settings.has_namespace = false;
  if (Result<void> checked = check_settings(settings); !checked) co_return report_usage_error(checked.error());
  Result<report::Settings> shown_as = output_settings(flags.output, invocation.globals);
  if (!shown_as) co_return report_usage_error(shown_as.error());
  Result<manifest::Bundle> bundle = bundle_of(settings);
  if (!bundle) co_return report(bundle.error());
  rollout::Options options;
  options.name = settings.name;
  // Its home; one of its Roles is in another namespace.
  options.default_namespace = settings.ns;
  options.create_namespace = true;
  options.prune = true;
  inventory::sign(options);
  Result<Duration> timeout = read_duration("--timeout", flags.timeout);
  if (!timeout) co_return report_usage_error(timeout.error());
  options.timeout = *timeout;
  TimePoint deadline = loop.now() + options.timeout;
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  auto cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  shown_as->may_draw = [&cluster] { return (*cluster)->requests() > 0; };
  report::RolloutReport shown(loop, (*journal)->journal(), *shown_as, false);
  (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
  rollout::Ending ending = co_await rollout::roll_out((*cluster)->client(), (*cluster)->discovery(), *std::move(bundle),
                                                      options, (*journal)->journal(), &stop);
  int code = exit_code(ending.how);
  Result<void> reached;
  if (code == kDone)
    reached = co_await gate::await_reach((*cluster)->client(), settings.name, deadline).governed_by(&stop);
  shown.finish(ending);
  if (!reached) code = report(reached.error());
  co_await (*cluster)->close();
  co_return (*journal)->close(code);
}

// The gate has made them, so no manifest has them. Its replicas are gone, or may not make any more.
Task<Result<size_t>> delete_configurations(kube::Client& client, std::string name) {
  kube::ListOptions wanted;
  wanted.label_selector = fmt::format("{}={}", gate::kGateLabel, name);
  auto listed = co_await client.list(gate::mutating_configurations(), wanted);
  if (!listed) co_return fail(listed.error().error().in("the gate's webhook configurations cannot be listed"));
  size_t deleted = 0;
  for (const Json& configuration : listed->items) {
    std::string_view one = configuration["metadata"]["name"].string_or("");
    auto removed = co_await client.remove(gate::mutating_configurations(), "", one);
    if (!removed && !removed.error().is(kube::FaultKind::not_found))
      co_return fail(removed.error().error().in(fmt::format("MutatingWebhookConfiguration {} cannot be deleted", one)));
    ++deleted;
  }
  co_return deleted;
}

object::Resource namespaced(std::string group, std::string kind, std::string plural) {
  object::Resource resource;
  resource.group = std::move(group);
  resource.version = "v1";
  resource.kind = std::move(kind);
  resource.plural = std::move(plural);
  resource.namespaced = true;
  return resource;
}

// The Secrets and Leases that the gate has made for itself: the key of a CA should not outlive it, and the next gate
// should not wait until a Lease lapses.
Task<Result<void>> delete_own_objects(kube::Client& client, gate::InstallSettings settings) {
  object::Resource secrets = namespaced("", "Secret", "secrets");
  object::Resource leases = namespaced("coordination.k8s.io", "Lease", "leases");
  std::string secret = settings.name + "-cert";
  for (const auto& [resource, name] : {std::pair(secrets, secret), std::pair(secrets, secret + "-ca"),
                                       std::pair(leases, settings.name), std::pair(leases, secret + "-keeper")}) {
    auto removed = co_await client.remove(resource, settings.ns, name);
    if (!removed && !removed.error().is(kube::FaultKind::not_found))
      co_return fail(removed.error().error().in(fmt::format("{} {} cannot be deleted", resource.kind, name)));
  }
  co_return Result<void>();
}

Task<int> uninstall_gate(RealLoop& loop, CancelSource& stop, const Invocation& invocation,
                         const GateInstallFlags& flags) {
  gate::InstallSettings settings = settings_in(invocation, flags);
  Result<report::Settings> shown_as = output_settings(flags.output, invocation.globals);
  if (!shown_as) co_return report_usage_error(shown_as.error());
  removal::Options options;
  inventory::sign(options);
  options.default_namespace = settings.ns;
  options.namespace_is_chosen = true;
  // Its pods go on answering for a while. A gate that is installed again meanwhile would have them behind its Service.
  options.cascade = removal::Cascade::foreground;
  Result<Duration> timeout = read_duration("--timeout", flags.timeout);
  if (!timeout) co_return report_usage_error(timeout.error());
  options.timeout = *timeout;
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  auto cluster = Cluster::connect(loop, invocation.globals, (*journal)->journal());
  if (!cluster) co_return report(cluster.error());
  int code = kDone;
  if (!flags.left_behind) {
    report::RemovalReport shown(loop, (*journal)->journal(), *shown_as, options.dry_run);
    (*journal)->journal().read_by([&](const journal::Event& event) { shown.read(event); }, shown.detail());
    removal::Ending ending = co_await removal::take_out_bundle((*cluster)->client(), (*cluster)->discovery(),
                                                               settings.name, options, (*journal)->journal(), &stop);
    shown.finish(ending);
    code = exit_code(ending.how);
  }
  // In any case: without the gate they only cost time.
  Result<size_t> deleted = co_await delete_configurations((*cluster)->client(), settings.name).governed_by(&stop);
  if (!deleted) code = report(deleted.error());
  if (Result<void> own = co_await delete_own_objects((*cluster)->client(), settings).governed_by(&stop); !own)
    code = report(own.error());
  if (deleted && flags.output.output == "text" && *deleted > 0)
    std::fputs(fmt::format("{} webhook configurations of the gate deleted\n", *deleted).c_str(), stdout);
  co_await (*cluster)->close();
  co_return (*journal)->close(code);
}

int print_gate_manifests(const Invocation& invocation, const GateInstallFlags& flags) {
  gate::InstallSettings settings = settings_in(invocation, flags);
  if (Result<void> checked = check_settings(settings); !checked) return report_usage_error(checked.error());
  std::vector<Json> objects = gate::manifests(settings);
  if (flags.format == "json") {
    Json list = Json::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::Array(objects)}};
    std::fputs(list.pretty().c_str(), stdout);
    return kDone;
  }
  for (const Json& object : objects) std::fputs(("---\n" + diff::yaml_text(object)).c_str(), stdout);
  return kDone;
}

void add_settings_flags(Command command, GateInstallFlags& flags) {
  command.option("--name", flags.settings.name, "Name of the gate and its objects").value("NAME").show_default();
  command.option("--image", flags.settings.image, "Image of the gate, with this binary in it")
      .value("IMAGE")
      .show_default();
  command.option("--image-pull-policy", flags.settings.pull_policy, "When nodes pull the image")
      .one_of({"Always", "IfNotPresent", "Never"})
      .show_default();
  command.option("--replicas", flags.settings.replicas, "Number of replicas").between(1, 100).value("N").show_default();
  command
      .option("--priority-class", flags.settings.priority_class,
              "Priority class of the gate's pods, or \"\". For a system- class, the gate has a ResourceQuota that "
              "allows it "
              "in the namespace, where a cluster asks for one")
      .value("NAME")
      .show_default();
  command.option("--patience", flags.settings.patience, "As for fairlead gate serve").value("DURATION");
  command.option("--patience-gone", flags.settings.patience_gone, "As for fairlead gate serve").value("DURATION");
  command.option("--patience-service-accounts", flags.settings.patience_service_accounts, "As for fairlead gate serve")
      .value("DURATION");
  command.flag("--shadows", flags.settings.shadows,
               "As for fairlead gate serve; needs the right to create RuntimeClasses");
}

void add_install(Command gate, Invocation& invocation, const std::string& name, const std::string& description,
                 const std::string& footer) {
  auto flags = std::make_shared<GateInstallFlags>();
  Command command = gate.subcommand(name, description);
  add_settings_flags(command, *flags);
  add_timeout_flag(command, flags->timeout);
  add_output_flags(command, flags->output);
  command.footer(footer);
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return install_gate(loop, stop, invocation, *flags);
  });
}

}  // namespace

void add_gate_install(Command gate, Invocation& invocation) {
  add_install(gate, invocation, "install", "Install the gate in the cluster, and wait until API servers reach it",
              "The gate is a bundle: fairlead status, history and rollback know it. Without -n it gets the namespace\n"
              "fairlead-gate, which is made if it does not exist.\n\n"
              "Examples:\n"
              "  fairlead gate install --image registry.example.com/fairlead:1\n"
              "  fairlead gate install --patience 2m -n platform\n\n"
              "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 invalid command line, 130 interrupted.");
  add_install(gate, invocation, "upgrade", "Replace the gate by this version, one replica after the other",
              "The same as install. No request fails meanwhile: where no replica answers, API servers go on without "
              "it.\n\n"
              "Examples:\n"
              "  fairlead gate upgrade --image registry.example.com/fairlead:2\n\n"
              "Exit codes: 0 done, 1 failed, 3 timed out, 4 conflicts, 64 invalid command line, 130 interrupted.");
  auto flags = std::make_shared<GateInstallFlags>();
  Command uninstall = gate.subcommand("uninstall", "Delete the gate and its webhook configurations");
  uninstall.option("--name", flags->settings.name, "Name of the gate").value("NAME").show_default();
  uninstall.flag("--left-behind", flags->left_behind,
                 "Only what the gate has made itself: its webhook configurations, Secrets and Leases. For a gate that "
                 "another tool has installed and deleted");
  add_timeout_flag(uninstall, flags->timeout);
  add_output_flags(uninstall, flags->output);
  uninstall.footer(
      "Examples:\n"
      "  fairlead gate uninstall\n"
      "  fairlead gate uninstall --left-behind -n platform\n\n"
      "Exit codes: 0 done, 1 failed, 3 timed out, 64 invalid command line, 130 interrupted.");
  run_when_chosen(uninstall, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return uninstall_gate(loop, stop, invocation, *flags);
  });
  auto printed = std::make_shared<GateInstallFlags>();
  Command manifests = gate.subcommand("manifests", "Print everything that installs the gate");
  add_settings_flags(manifests, *printed);
  manifests.option("-o,--output", printed->format, "Format: yaml or json").one_of({"yaml", "json"}).show_default();
  manifests.footer(
      "The gate's webhook configurations are not among them: the gate makes these itself. No cluster is asked.\n\n"
      "Examples:\n"
      "  fairlead gate manifests --image registry.example.com/fairlead:1 | kubectl apply -f -\n\n"
      "Exit codes: 0 printed, 64 invalid command line.");
  manifests.when_chosen([&invocation, printed] {
    invocation.run = [&invocation, printed] { return print_gate_manifests(invocation, *printed); };
  });
}

}  // namespace fairlead::cli

#include <cstdio>
#include <iostream>
#include <iterator>

#include "base/printable.h"
#include "base/version.h"
#include "cli/commands/commands.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "diff/yaml_text.h"
#include "pipeline/read.h"
#include "report/output.h"
#include "webhook/install/install.h"

namespace fairlead::cli {
namespace {

namespace install = webhook::install;

struct ManifestFlags {
  std::vector<std::string> files;
  std::vector<std::string> sets;
  std::vector<std::string> string_sets;
  install::Inputs inputs;
  install::Release release{.version = std::string(program_version())};
  install::Options options;
  std::string output = "yaml";
};

Result<install::ValuesFile> read_values(const std::string& file) {
  if (file == "-") return install::ValuesFile{"stdin", std::string(std::istreambuf_iterator<char>(std::cin), {})};
  TRY_ASSIGN(std::string text, pipeline::read_file(file));
  return install::ValuesFile{file, std::move(text)};
}

std::string text_of(const install::Manifests& manifests, const std::string& output) {
  if (output == "json")
    return Json(Json::Object{{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::Array(manifests.objects)}})
        .pretty();
  std::string text;
  for (const Json& object : manifests.objects) text += "---\n" + diff::yaml_text(object);
  return text;
}

int print_manifests(const Invocation& invocation, ManifestFlags& flags) {
  for (const std::string& file : flags.files) {
    Result<install::ValuesFile> values = read_values(file);
    if (!values) return report(values.error());
    flags.inputs.files.push_back(*std::move(values));
  }
  // As with Helm, those of --set-string come last.
  for (const std::string& set : flags.sets) flags.inputs.sets.push_back({set});
  for (const std::string& set : flags.string_sets) flags.inputs.sets.push_back({.text = set, .is_text = true});
  if (!invocation.globals.namespace_name.empty()) flags.release.ns = invocation.globals.namespace_name;
  auto made = install::manifests(flags.release, flags.inputs, flags.options);
  if (!made) {
    int code = kFailed;
    for (const Error& error : made.error()) code = report(error);
    return code;
  }
  if (invocation.globals.namespace_name.empty())
    report::print(
        stderr, fmt::format("note: the objects are for namespace {}; -n NAME chooses another one\n", flags.release.ns));
  for (const std::string& warning : made->warnings)
    report::print(stderr, fmt::format("warning: {}\n", printable_line(warning)));
  std::fputs(text_of(*made, flags.output).c_str(), stdout);
  return kDone;
}

}  // namespace

void add_webhook_manifests(Command webhook, Invocation& invocation) {
  auto flags = std::make_shared<ManifestFlags>();
  Command command = webhook.subcommand("manifests", "Print everything that installs the admission server");
  command
      .option("--values", flags->files,
              "File with values, as for the Helm chart deploy/chart; - for standard input; may be repeated")
      .value("FILE")
      .repeatable();
  command
      .option(
          "--set", flags->sets,
          "Values as for Helm: webhook.failurePolicy=Ignore,webhook.replicas=3; \\, is a comma in a value, \\. a dot "
          "in a key, and null the default; may be repeated")
      .value("PATH=VALUE")
      .repeatable();
  command.option("--set-string", flags->string_sets, "The same, with every value a string; may be repeated")
      .value("PATH=VALUE")
      .repeatable();
  command
      .option("--release", flags->release.name, "Name of the installation, which the names of its objects begin with")
      .value("NAME")
      .show_default();
  command.flag("--skip-crds", flags->options.skip_definitions, "Leave the CRDs out");
  command.option("-o,--output", flags->output, "Format: yaml or json").one_of({"yaml", "json"}).show_default();
  command.footer(
      "The objects are those of the Helm chart deploy/chart with the same values. Values that are unknown or "
      "contradict\n"
      "each other are errors. The namespace is that of -n, or default, and must exist. No cluster is asked, and no\n"
      "kubeconfig is read.\n\n"
      "Examples:\n"
      "  fairlead webhook manifests -n dynamo-system | fairlead apply --name dynamo-webhook -f -\n"
      "  fairlead webhook manifests --values values.yaml --set webhook.certManager.enabled=true -n dynamo-system\n"
      "  fairlead webhook manifests --set namespaceRestriction.enabled=true -n team-a\n\n"
      "Exit codes: 0 printed, 1 the values are wrong, 64 invalid command line.");
  command.when_chosen(
      [&invocation, flags] { invocation.run = [&invocation, flags] { return print_manifests(invocation, *flags); }; });
}

}  // namespace fairlead::cli

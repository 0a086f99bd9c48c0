#include "graph/graph.h"

#include <cstdio>
#include <set>

#include "cli/commands/commands.h"
#include "cli/core/connect.h"
#include "cli/core/error_report.h"
#include "cli/core/exit_code.h"
#include "cli/core/run.h"
#include "cli/input/sources.h"
#include "cli/output/run_journal.h"
#include "draw/formats.h"
#include "draw/svg.h"
#include "graph/known_kinds.h"
#include "report/output.h"
#include "rollout/survey.h"

namespace fairlead::cli {
namespace {

struct GraphFlags {
  SourceFlags sources;
  std::string why;
  bool offline = false;
  std::string output = "text";
};

// What is drawn, and what has to be said about it.
struct Drawn {
  draw::Picture picture;
  std::vector<graph::Problem> problems;
  std::vector<std::string> assumptions;
};

// Says what was taken for granted because no cluster was asked.
std::vector<std::string> assumptions_of(const manifest::Bundle& bundle, const std::string& ns, std::string_view why) {
  std::vector<std::string> texts = {
      fmt::format("{}: only the kinds of Kubernetes itself and of the CRDs in these manifests are known, and only the "
                  "webhooks and policies in them",
                  why),
      fmt::format("objects that name no namespace are drawn in namespace {}", ns)};
  std::set<std::string> defined, unknown;
  for (const object::Object& object : bundle.objects)
    if (object.kind() == "CustomResourceDefinition")
      defined.insert(fmt::format("{}.{}", object.value()["spec"]["names"]["kind"].string_or(""),
                                 object.value()["spec"]["group"].string_or("")));
  for (const object::Object& object : bundle.objects) {
    std::string kind = fmt::format("{}.{}", object.kind(), object.group());
    if (!graph::is_kind_of_kubernetes(object.group(), object.kind()) && !defined.contains(kind)) unknown.insert(kind);
  }
  if (!unknown.empty())
    texts.push_back(fmt::format("not known here, and drawn in the namespace that they name, if any: objects of {}",
                                fmt::join(unknown, ", ")));
  return texts;
}

Drawn draw_offline(const Globals& globals, const manifest::Bundle& bundle, std::string_view why) {
  std::string ns = globals.namespace_name.empty() ? "default" : globals.namespace_name;
  graph::Graph graph = graph::Graph::build(bundle, {}, {.default_namespace = ns});
  return {.picture = draw::picture_of(graph, bundle),
          .problems = graph.problems(),
          .assumptions = assumptions_of(bundle, ns, why)};
}

// Reads the cluster as `apply` does before it sends anything.
Task<std::expected<Drawn, manifest::Errors>> draw_with(Cluster& cluster, const Globals& globals,
                                                       journal::Journal& journal, manifest::Bundle bundle) {
  rollout::Options options;
  options.default_namespace = cluster.default_namespace();
  options.namespace_is_chosen = !globals.namespace_name.empty();
  Drawn drawn;
  journal.read_by([&drawn](const journal::Event& event) {
    if (!event.error && !event.text.empty()) drawn.assumptions.push_back(event.text);
  });
  rollout::Survey survey =
      co_await rollout::survey(cluster.client(), cluster.discovery(), std::move(bundle), options, journal);
  if (!survey.graph) co_return std::unexpected(std::move(survey.errors));
  drawn.picture = draw::picture_of(*survey.graph, survey.bundle);
  drawn.problems = survey.graph->problems();
  co_return drawn;
}

std::string_view name_of(graph::Severity severity) {
  if (severity == graph::Severity::error) return "error";
  return severity == graph::Severity::warning ? "warning" : "note";
}

std::string report_of(const graph::Problem& problem) {
  constexpr std::string_view kError = "error: ";
  std::string text = problem.error.report();
  if (text.starts_with(kError)) text.replace(0, kError.size(), fmt::format("{}: ", name_of(problem.severity)));
  return text;
}

Json json_of(const Drawn& drawn) {
  Json json = draw::as_json(drawn.picture);
  Json::Array problems;
  for (const graph::Problem& problem : drawn.problems) {
    Json one = journal::to_json(problem.error);
    one.make("severity") = name_of(problem.severity);
    problems.push_back(std::move(one));
  }
  json.make("problems") = std::move(problems);
  json.make("assumptions") = Json::Array(drawn.assumptions.begin(), drawn.assumptions.end());
  return json;
}

std::string text_of(const Drawn& drawn, const GraphFlags& flags) {
  if (flags.output == "dot") return draw::as_dot(drawn.picture);
  if (flags.output == "mermaid") return draw::as_mermaid(drawn.picture);
  if (flags.output == "svg") return draw::as_svg(drawn.picture);
  if (flags.output == "json") return json_of(drawn).pretty();
  return flags.why.empty() ? draw::as_text(drawn.picture) : draw::as_tree(drawn.picture);
}

int show(Drawn drawn, const GraphFlags& flags) {
  if (!flags.why.empty()) {
    Result<uint32_t> box = draw::find_box(drawn.picture, flags.why);
    if (!box) return report(box.error());
    drawn.picture = draw::part_behind(drawn.picture, *box);
  }
  std::string text = text_of(drawn, flags);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  bool has_errors = false;
  for (const graph::Problem& problem : drawn.problems) {
    has_errors |= problem.severity == graph::Severity::error;
    if (flags.output != "json") report::print(stderr, report_of(problem));
  }
  if (flags.output != "json")
    for (const std::string& one : drawn.assumptions) report::print(stderr, fmt::format("note: {}\n", one));
  return has_errors ? kFailed : kDone;
}

// True if the user named no cluster at all, so that none is expected.
bool is_without_cluster(const Globals& globals, const Error& error) {
  return error.kind() == ErrorKind::not_found && globals.kubeconfig.empty() && globals.context.empty() &&
         globals.cluster.empty() && globals.user.empty();
}

// Draws the manifests with what the cluster has.
Task<int> draw_online(Cluster& cluster, const Globals& globals, const GraphFlags& flags, journal::Journal& journal,
                      manifest::Bundle bundle, CancelSource& stop) {
  auto drawn = co_await draw_with(cluster, globals, journal, std::move(bundle)).governed_by(&stop);
  co_await cluster.close();
  if (drawn) co_return show(*std::move(drawn), flags);
  int code = kFailed;
  for (const Error& error : drawn.error()) code = report(error);
  if (code == kFailed) report::print(stderr, "note: fairlead graph --offline draws the manifests without a cluster\n");
  co_return code;
}

Task<int> graph_command(RealLoop& loop, const Invocation& invocation, const GraphFlags& flags, CancelSource& stop) {
  const Globals& globals = invocation.globals;
  auto journal = RunJournal::open(loop.clock(), {});
  if (!journal) co_return report(journal.error());
  std::unique_ptr<Cluster> cluster;
  if (!flags.offline) {
    Result<std::unique_ptr<Cluster>> found = Cluster::connect(loop, globals, (*journal)->journal());
    if (!found && !is_without_cluster(globals, found.error())) co_return report(found.error());
    if (found) cluster = *std::move(found);
  }
  auto bundle = co_await read_sources(loop, invocation, flags.sources, {.stop = &stop, .offline = cluster == nullptr});
  if (bundle && cluster)
    co_return co_await draw_online(*cluster, globals, flags, (*journal)->journal(), *std::move(bundle), stop);
  if (cluster) co_await cluster->close();
  if (!bundle) co_return bundle.error();
  co_return show(
      draw_offline(globals, *bundle,
                   flags.offline ? "drawn without a cluster" : "drawn without a cluster, since none is configured"),
      flags);
}

}  // namespace

void add_graph(Command app, Invocation& invocation) {
  auto flags = std::make_shared<GraphFlags>();
  Command command = app.subcommand("graph", "Show what waits for what, and why");
  add_source_flags(command, flags->sources);
  command.option("--why", flags->why, "Only what this object waits for, to the root").value("KIND/NAME");
  command.flag("--offline", flags->offline, "Ask no cluster: the manifests alone decide");
  command.option("-o,--output", flags->output, "What to print: text, dot, mermaid, json or svg")
      .one_of({"text", "dot", "mermaid", "json", "svg"});
  command.footer(
      "Examples:\n"
      "  fairlead graph -f k8s/\n"
      "  fairlead graph -f k8s/ --why Widget/team-a/first\n"
      "  fairlead graph -f k8s/ --offline -o svg > graph.svg\n"
      "  fairlead graph -f k8s/ -o dot | dot -Tpng > graph.png\n\n"
      "Nothing is written to the cluster. Exit codes: 0 drawn, 1 the manifests have errors or cannot be read,\n"
      "64 invalid command line, 130 interrupted.");
  run_when_chosen(command, invocation, [&invocation, flags](RealLoop& loop, CancelSource& stop) {
    return graph_command(loop, invocation, *flags, stop);
  });
}

}  // namespace fairlead::cli

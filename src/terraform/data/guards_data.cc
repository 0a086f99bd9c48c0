#include "terraform/data/guards_data.h"

#include <algorithm>

#include "manifest/rendered.h"
#include "rollout/survey.h"
#include "terraform/objects/attributes.h"
#include "terraform/objects/deletion.h"
#include "terraform/objects/words.h"

namespace fairlead::terraform {
namespace {

using graph::Guard;

Type guard_type() {
  Type positions = Type::list(Type::number());
  return Type::object({{"webhook", Type::string()},
                       {"configuration_kind", Type::string()},
                       {"configuration", Type::string()},
                       {"fails_open", Type::boolean()},
                       {"declared", positions},
                       {"backing", positions},
                       {"guarded", positions}});
}

const Schema& guards_schema() {
  static const Schema kSchema{
      .version = 0,
      .description =
          "Which admission webhooks guard which of some manifests: webhooks of the cluster and of the "
          "manifests themselves. Nothing is sent to them.",
      .attributes = {optional_attribute("yaml", Type::string(), "The manifests, as YAML or JSON documents."),
                     cluster_attribute(),
                     computed_attribute("guards", Type::list(guard_type()),
                                        "Each webhook that one of the manifests would wait for. `declared` is the "
                                        "position of its configuration among the manifests, and empty if it is in the "
                                        "cluster only; `backing` are the positions of what it needs to answer, "
                                        "`guarded` of those that wait for it.")},
      .blocks = {}};
  return kSchema;
}

bool is_webhook(const Guard& guard) {
  return guard.kind == Guard::Kind::validating_webhook || guard.kind == Guard::Kind::mutating_webhook;
}

Value position(graph::NodeId node) { return int64_t(node.index()); }

Value guards_of(const graph::Graph& graph) {
  plan::IdVector<graph::GuardId, Value::Items> guarded(graph.guards().size());
  for (graph::NodeId object : graph.objects())
    for (const graph::GuardMatch& match : graph.guards_of(object))
      if (!match.by_pods) guarded[match.guard].push_back(position(object));
  Value::Items found;
  for (graph::GuardId id : graph.guards().ids()) {
    const Guard& guard = graph.guards()[id];
    if (!is_webhook(guard) || guarded[id].empty()) continue;
    Value::Items declared, backing;
    if (guard.object) declared.push_back(position(*guard.object));
    for (graph::NodeId node : guard.backed_by) backing.push_back(position(node));
    found.push_back(Value::object({{"webhook", guard.name},
                                   {"configuration_kind", guard.configuration.kind},
                                   {"configuration", guard.configuration.name},
                                   {"fails_open", guard.ignore},
                                   {"declared", Value::list(std::move(declared))},
                                   {"backing", Value::list(std::move(backing))},
                                   {"guarded", Value::list(std::move(guarded[id]))}}));
  }
  return Value::list(std::move(found));
}

class GuardsDataSource final : public DataSource {
 public:
  std::string_view name() const override { return "fairlead_guards"; }
  const Schema& schema() const override { return guards_schema(); }

  Task<Diagnostics> validate(Context& context, Value config) override {
    co_return context.clusters().check(config["cluster"], "cluster");
  }

  Task<DataResponse> read(Context& context, Value config) override {
    DataResponse response;
    std::vector<manifest::Text> texts{
        {.origin = "yaml", .content = std::string(config["yaml"].string_or("")), .has_lines = true}};
    auto bundle = co_await manifest::read_with({}, {}, std::move(texts));
    if (!bundle) {
      for (const Error& error : bundle.error())
        response.diagnostics.error(Error(error).in("The manifests cannot be used"), "yaml");
      co_return response;
    }
    object::Key all{.group = "", .kind = "manifests", .ns = "", .name = "all"};
    Connection* cluster = co_await connected(context, config["cluster"], all, response.diagnostics);
    if (!cluster) co_return response;
    rollout::Options options;
    options.default_namespace = cluster->default_namespace();
    journal::Journal journal(context.loop().clock());
    kube::Client client = client_of_run(*cluster);
    rollout::Survey survey =
        co_await rollout::survey(client, cluster->discovery(), *std::move(bundle), options, journal);
    // Kinds and namespaces that are missing may come with the same program, so they do not matter here.
    if (!survey.graph) {
      for (const Error& error : survey.errors)
        response.diagnostics.error(Error(error).in("The webhooks of the cluster cannot be read"), "cluster");
      co_return response;
    }
    response.state = config;
    response.state.make("guards") = guards_of(*survey.graph);
    co_return response;
  }
};

}  // namespace

std::unique_ptr<DataSource> make_guards_data_source() { return std::make_unique<GuardsDataSource>(); }

}  // namespace fairlead::terraform

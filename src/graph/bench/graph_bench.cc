// Measures how fast needs are derived: graph_bench [OBJECTS...]. For each size it generates a bundle as YAML text,
// reads it, and builds the graph for a cluster with 200 webhook configurations. It prints one line of JSON per size.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "graph/graph.h"
#include "manifest/collector.h"

namespace {

using namespace fairlead;

// CPU time, so that other processes on the machine do not count.
double seconds_since(std::clock_t start) { return double(std::clock() - start) / CLOCKS_PER_SEC; }

// Every app has ten objects, and every namespace ten apps.
std::string bundle_text(size_t objects) {
  std::string text = R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
---
)";
  for (size_t app = 0, made = 1; made < objects; ++app) {
    size_t ns = app / 10;
    auto add = [&](std::string object) {
      if (made++ < objects) text += object + "---\n";
    };
    if (app % 10 == 0)
      add(fmt::format("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-{}\n  labels: {{stage: s{}}}\n", ns,
                      ns % 7));
    auto meta = [&](std::string_view suffix) {
      return fmt::format(
          "metadata:\n  name: app-{}{}\n  namespace: team-{}\n  labels:\n    app: app-{}\n    tier: t{}\n", app, suffix,
          ns, app, app % 5);
    };
    add("apiVersion: v1\nkind: ServiceAccount\n" + meta(""));
    for (int i = 0; i < 3; ++i)
      add("apiVersion: v1\nkind: ConfigMap\n" + meta(fmt::format("-{}", i)) + "data:\n  key: value\n");
    add("apiVersion: v1\nkind: Secret\n" + meta("") + "stringData:\n  key: value\n");
    add("apiVersion: v1\nkind: Service\n" + meta("") +
        fmt::format("spec:\n  selector: {{app: app-{}}}\n  ports: [{{port: 80}}]\n", app));
    add("apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\n" + meta("") +
        fmt::format("roleRef: {{kind: ClusterRole, name: view, apiGroup: rbac.authorization.k8s.io}}\n"
                    "subjects: [{{kind: ServiceAccount, name: app-{}}}]\n",
                    app));
    add("apiVersion: apps/v1\nkind: Deployment\n" + meta("") +
        fmt::format(R"(spec:
  selector: {{matchLabels: {{app: app-{0}}}}}
  template:
    metadata:
      labels: {{app: app-{0}}}
    spec:
      serviceAccountName: app-{0}
      containers:
      - name: web
        image: registry.example.com/web:1
        envFrom:
        - configMapRef: {{name: app-{0}-0}}
        env:
        - name: KEY
          valueFrom: {{secretKeyRef: {{name: app-{0}, key: key}}}}
      volumes:
      - name: data
        configMap: {{name: app-{0}-1}}
)",
                    app));
    add("apiVersion: policy/v1\nkind: PodDisruptionBudget\n" + meta("") +
        fmt::format("spec:\n  minAvailable: 1\n  selector: {{matchLabels: {{app: app-{}}}}}\n", app));
    add("apiVersion: example.com/v1\nkind: Widget\n" + meta("") + "spec: {size: 1}\n");
  }
  return text;
}

// A few webhooks match every resource, most only one. Some have a namespaceSelector, an objectSelector or a
// matchCondition.
graph::ClusterState cluster_state() {
  graph::ClusterState cluster;
  constexpr std::string_view kResources[] = {"configmaps", "secrets", "services", "pods", "deployments", "widgets"};
  for (int i = 0; i < 200; ++i) {
    std::string resource(i % 10 == 0 ? "*" : kResources[i % 6]);
    Json hook = Json::Object{
        {"name", fmt::format("hook-{}.example.com", i)},
        {"rules", Json::Array{Json::Object{{"operations", Json::Array{"CREATE", "UPDATE"}},
                                           {"apiGroups", Json::Array{"*"}},
                                           {"apiVersions", Json::Array{"*"}},
                                           {"resources", Json::Array{resource}}}}},
        {"clientConfig", Json::Object{{"service", Json::Object{{"namespace", "hooks"}, {"name", "hook"}}}}}};
    if (i % 4 == 1) hook.make("namespaceSelector").make("matchLabels").make("stage") = fmt::format("s{}", i % 7);
    if (i % 4 == 2) hook.make("objectSelector").make("matchLabels").make("tier") = fmt::format("t{}", i % 5);
    if (i % 40 == 3)
      hook.make("matchConditions") =
          Json::Array{Json::Object{{"name", "not-x"}, {"expression", "object.metadata.name != 'x'"}}};
    cluster.webhook_configurations.push_back(
        Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"},
                     {"kind", i % 2 == 0 ? "ValidatingWebhookConfiguration" : "MutatingWebhookConfiguration"},
                     {"metadata", Json::Object{{"name", fmt::format("hook-{}", i)}}},
                     {"webhooks", Json::Array{std::move(hook)}}});
  }
  return cluster;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {10'000, 100'000};
  double before = 0;
  graph::ClusterState cluster = cluster_state();
  for (size_t size : sizes) {
    std::string text = bundle_text(size);
    std::clock_t start = std::clock();
    manifest::Collector collector{manifest::Limits{}};
    collector.add(text, "bundle.yaml");
    auto bundle = std::move(collector).finish();
    if (!bundle) {
      for (const Error& problem : bundle.error()) std::fputs(problem.report().c_str(), stderr);
      return 1;
    }
    double read = seconds_since(start);
    start = std::clock();
    graph::Graph graph = graph::Graph::build(*bundle, cluster);
    double built = seconds_since(start);
    size_t needs = 0;
    for (graph::NodeId node : graph.nodes().ids()) needs += graph.needs_of(node).size();
    fmt::print(
        "{{\"objects\":{},\"bytes\":{},\"nodes\":{},\"needs\":{},\"read_seconds\":{:.3f},\"graph_seconds\":{:.3f}",
        graph.object_count(), text.size(), graph.nodes().size(), needs, read, built);
    if (before > 0) fmt::print(",\"ratio\":{:.1f}", (read + built) / before);
    fmt::print("}}\n");
    before = read + built;
  }
  return 0;
}

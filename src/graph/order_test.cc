// Order that people ask for: annotations, waves, hooks; and loops.
#include <gmock/gmock.h>

#include <random>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the YAML of one ConfigMap.
std::string config_map(std::string_view name, std::string_view annotations = "") {
  return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {}\n  annotations: {{{}}}\n---\n", name,
                     annotations);
}

TEST(Order, DependsOn) {
  Graph graph = graph_of(
      config_map("a",
                 "config.kubernetes.io/depends-on: '/namespaces/default/ConfigMap/b, apps/namespaces/x/Deployment/d,"
                 "rbac.authorization.k8s.io/ClusterRole/admin'") +
      config_map("b"));
  EXPECT_THAT(needs_of(graph),
              ElementsAre("ConfigMap default/a -> ConfigMap default/b ready: config.kubernetes.io/depends-on",
                          "ConfigMap default/a -> Deployment x/d ready: config.kubernetes.io/depends-on",
                          "ConfigMap default/a -> ClusterRole admin ready: config.kubernetes.io/depends-on"));
  ASSERT_EQ(graph.nodes().size(), 4u);
  EXPECT_EQ(graph.nodes()[NodeId(2)].kind, Node::Kind::outside);
  EXPECT_EQ(graph.key(NodeId(2)).text_with_group(), "Deployment.apps x/d");
}

TEST(Order, Needs) {
  std::string rest = config_map("b") +
                     "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, namespace: other}}\n---\n"
                     "{apiVersion: v1, kind: Namespace, metadata: {name: other}}\n---\n";
  auto needs = [&](std::string_view text) {
    std::vector<std::string> lines =
        needs_of(graph_of(config_map("a", fmt::format("fairlead.dev/needs: '{}'", text)) + rest));
    std::erase_if(lines, [](const std::string& line) { return !line.starts_with("ConfigMap default/a"); });
    return lines;
  };
  std::string a = "ConfigMap default/a -> ";
  EXPECT_THAT(needs("ConfigMap/b"), ElementsAre(a + "ConfigMap default/b ready: fairlead.dev/needs"));
  EXPECT_THAT(needs("configmap/default/b"), ElementsAre(a + "ConfigMap default/b ready: fairlead.dev/needs"));
  EXPECT_THAT(
      needs("Widget.example.com/other/w, Namespace/other"),
      ElementsAre(a + "Widget other/w ready: fairlead.dev/needs", a + "Namespace other ready: fairlead.dev/needs"));
  EXPECT_THAT(needs("Widget/other/w"), ElementsAre(a + "Widget other/w ready: fairlead.dev/needs"));
  // What is not in the bundle is looked for in the cluster, in the same namespace.
  EXPECT_THAT(needs("Deployment/web"), ElementsAre(a + "Deployment default/web ready: fairlead.dev/needs"));
  EXPECT_THAT(needs("ClusterRole/web"), ElementsAre(a + "ClusterRole web ready: fairlead.dev/needs"));
  EXPECT_THAT(needs("Gadget.example.com/team/g"), ElementsAre(a + "Gadget team/g ready: fairlead.dev/needs"));
}

TEST(Order, AnnotationsThatCannotBeRead) {
  auto report = [](std::string annotation) { return reports_of(graph_of(config_map("a", annotation))); };
  EXPECT_EQ(report("config.kubernetes.io/depends-on: x"),
            "error: config.kubernetes.io/depends-on cannot be used on ConfigMap default/a\n"
            "  because   \"x\" is neither GROUP/KIND/NAME nor GROUP/namespaces/NAMESPACE/KIND/NAME\n"
            "  from      b.yaml:1\n");
  EXPECT_EQ(report("fairlead.dev/needs: ConfigMap"),
            "error: fairlead.dev/needs cannot be used on ConfigMap default/a\n"
            "  because   \"ConfigMap\" is neither KIND[.GROUP]/NAME nor KIND[.GROUP]/NAMESPACE/NAME\n"
            "  from      b.yaml:1\n");
  EXPECT_EQ(
      report("fairlead.dev/needs: Gadget/g"),
      "error: fairlead.dev/needs cannot be used on ConfigMap default/a\n"
      "  because   \"Gadget/g\" is not in the bundle, and without its group it cannot be looked for in the cluster: "
      "write KIND.GROUP\n"
      "  from      b.yaml:1\n");
  EXPECT_EQ(report("fairlead.dev/needs: ConfigMap/a"),
            "error: fairlead.dev/needs cannot be used on ConfigMap default/a\n"
            "  because   it names the object itself\n"
            "  from      b.yaml:1\n");
  EXPECT_EQ(report("argocd.argoproj.io/sync-wave: 'soon'"),
            "error: ConfigMap default/a has an invalid argocd.argoproj.io/sync-wave\n"
            "  because   \"soon\" is not a whole number between -2147483648 and 2147483647\n"
            "  from      b.yaml:1\n");
}

TEST(Order, SyncWaves) {
  Graph graph = graph_of(config_map("last", "argocd.argoproj.io/sync-wave: '5'") +
                         config_map("first", "argocd.argoproj.io/sync-wave: '-1'") + config_map("plain") +
                         "{apiVersion: v1, kind: Namespace, metadata: {name: default}}");
  EXPECT_THAT(needs_of(graph), ElementsAre("ConfigMap default/last -> Namespace default: its namespace",
                                           "ConfigMap default/last -> wave 0 ready: wave 0 comes first",
                                           "ConfigMap default/first -> Namespace default: its namespace",
                                           "ConfigMap default/plain -> Namespace default: its namespace",
                                           "ConfigMap default/plain -> wave -1 ready: wave -1 comes first",
                                           "wave -1 -> ConfigMap default/first ready: a part of it",
                                           "wave 0 -> ConfigMap default/plain ready: a part of it"));
  EXPECT_TRUE(has_order(graph));
}

TEST(Order, OneWaveIsNoWave) {
  EXPECT_THAT(needs_of(graph_of(config_map("a", "argocd.argoproj.io/sync-wave: '0'") + config_map("b"))), IsEmpty());
}

TEST(Order, HooksOfHelm) {
  Graph graph = graph_of(config_map("b", "helm.sh/hook: 'pre-install,pre-upgrade', helm.sh/hook-weight: '2'") +
                         config_map("a", "helm.sh/hook: pre-install, helm.sh/hook-weight: '-5'") + config_map("main") +
                         config_map("after", "helm.sh/hook: 'post-install, post-upgrade'") +
                         config_map("try", "helm.sh/hook: test") + config_map("bye", "helm.sh/hook: pre-delete"));
  EXPECT_THAT(needs_of(graph),
              ElementsAre("ConfigMap default/b -> the pre-install hooks of weight -5 ready: the pre-install hooks of "
                          "weight -5 come first",
                          "ConfigMap default/main -> the pre-install hooks of weight 2 ready: the pre-install hooks of "
                          "weight 2 come first",
                          "ConfigMap default/after -> wave 0 ready: wave 0 comes first",
                          "the pre-install hooks of weight -5 -> ConfigMap default/a ready: a part of it",
                          "the pre-install hooks of weight 2 -> ConfigMap default/b ready: a part of it",
                          "wave 0 -> ConfigMap default/main ready: a part of it"));
  EXPECT_FALSE(graph.is_left_out(NodeId(3)));
  EXPECT_TRUE(graph.is_left_out(NodeId(4)));
  EXPECT_TRUE(graph.is_left_out(NodeId(5)));
  EXPECT_EQ(reports_of(graph),
            "note: ConfigMap default/try is skipped: it is a Helm hook for test\n"
            "  from      b.yaml:25\n"
            "note: ConfigMap default/bye is skipped: it is a Helm hook for pre-delete\n"
            "  from      b.yaml:31\n");
}

TEST(Order, HooksForInstallationsAndForUpgrades) {
  std::string text = config_map("new", "helm.sh/hook: pre-install") + config_map("old", "helm.sh/hook: post-upgrade") +
                     config_map("both", "helm.sh/hook: 'post-install,post-upgrade'") + config_map("main");
  auto left_out = [&](std::optional<bool> was_there) {
    Graph graph = Graph::build(bundle_of(text), {}, {.was_there = was_there});
    return reports_of(graph);
  };
  EXPECT_EQ(left_out(std::nullopt), "");
  EXPECT_EQ(left_out(false),
            "note: ConfigMap default/old is skipped: it is a Helm hook for post-upgrade, and this is the first "
            "installation of the bundle\n"
            "  from      b.yaml:7\n");
  EXPECT_EQ(
      left_out(true),
      "note: ConfigMap default/new is skipped: it is a Helm hook for pre-install, and the bundle is already installed\n"
      "  from      b.yaml:1\n");
}

// The shape of ingress-nginx's chart: a Job before the installation makes the certificate, one after it tells the
// webhook configuration, and an Ingress that the webhook guards is part of the installation.
std::string ingress_chart(std::string_view rules) {
  return fmt::format(R"(apiVersion: v1
kind: List
items:
- apiVersion: batch/v1
  kind: Job
  metadata: {{name: patch, namespace: web, annotations: {{helm.sh/hook: 'post-install,post-upgrade'}}}}
  spec: {{template: {{spec: {{serviceAccountName: hook, containers: [{{name: c, image: certgen, args: [--webhook-name=admission]}}]}}}}}}
- apiVersion: batch/v1
  kind: Job
  metadata: {{name: create, namespace: web, annotations: {{helm.sh/hook: 'pre-install,pre-upgrade'}}}}
  spec: {{template: {{spec: {{serviceAccountName: hook, containers: [{{name: c, image: certgen, args: ['--host=hook,hook.web.svc']}}]}}}}}}
- {{apiVersion: v1, kind: ServiceAccount, metadata: {{name: hook, namespace: web, annotations: {{helm.sh/hook: 'pre-install,post-install'}}}}}}
- {{apiVersion: v1, kind: Namespace, metadata: {{name: web}}}}
- {{apiVersion: v1, kind: Namespace, metadata: {{name: team}}}}
- {{apiVersion: v1, kind: Service, metadata: {{name: hook, namespace: web}}, spec: {{selector: {{app: hook}}}}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: hook, namespace: web}}
  spec: {{template: {{metadata: {{labels: {{app: hook}}}}}}}}
- {{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {{name: site, namespace: team}}}}
- {{apiVersion: v1, kind: ConfigMap, metadata: {{name: last, namespace: team, annotations: {{helm.sh/hook: post-install, helm.sh/hook-weight: '5'}}}}}}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingWebhookConfiguration
  metadata: {{name: admission}}
  webhooks:
  - name: v.example.com
    clientConfig: {{service: {{namespace: web, name: hook}}}}
    rules: [{{operations: [CREATE, UPDATE], apiGroups: ['*'], apiVersions: ['*'], resources: [{}]}}]
)",
                     rules);
}

std::vector<std::string> parts_of(const Graph& graph, std::string_view wave) {
  std::vector<std::string> parts;
  for (NodeId node : graph.nodes().ids())
    for (const Need& need : graph.needs_of(node))
      if (graph.text(node) == wave) parts.push_back(graph.text(need.target));
  return parts;
}

TEST(Order, AWebhookWhoseCertificateIsMadeAfterTheInstallation) {
  Graph graph = graph_of(ingress_chart("ingresses"));
  ASSERT_FALSE(graph.has_errors()) << reports_of(graph);
  EXPECT_TRUE(has_order(graph));
  // Neither the Ingress nor the configuration, which has no certificate yet, can be waited for by the Job.
  EXPECT_THAT(parts_of(graph, "wave 0"), ElementsAre("Service web/hook", "Deployment web/hook"));
  EXPECT_THAT(parts_of(graph, "the post-install hooks of weight 0"),
              ElementsAre("Job web/patch", "Ingress team/site", "ValidatingWebhookConfiguration admission"));
  EXPECT_THAT(
      needs_of(graph),
      testing::IsSupersetOf<std::string>(
          {"Job web/patch -> wave 0 ready: wave 0 comes first",
           "Job web/patch -> ValidatingWebhookConfiguration admission soft: it puts the certificate there",
           "Ingress team/site -> webhook v.example.com (ValidatingWebhookConfiguration admission) ready: webhook "
           "v.example.com guards it"}));
}

TEST(Order, AWebhookOnEverythingWhoseCertificateIsMadeByHooks) {
  Graph graph = graph_of(ingress_chart("'*'"));
  ASSERT_FALSE(graph.has_errors()) << reports_of(graph);
  EXPECT_TRUE(has_order(graph));
  // It is there before the Job that puts its certificate in.
  EXPECT_THAT(needs_of(graph),
              testing::Contains("Job web/patch -> ValidatingWebhookConfiguration admission soft: it puts the "
                                "certificate there"));
}

TEST(Order, WhatComesBeforeAWebhookDoesNotWaitForIt) {
  Graph graph = graph_of(ingress_chart("secrets, namespaces") + R"(
- {apiVersion: v1, kind: Namespace, metadata: {name: early}}
- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: early, annotations: {helm.sh/hook: pre-install}}}
)");
  ASSERT_FALSE(graph.has_errors()) << reports_of(graph);
  EXPECT_TRUE(has_order(graph));
  EXPECT_THAT(exemptions_of(graph),
              testing::IsSupersetOf({"Namespace early: v.example.com", "Secret early/s: v.example.com"}));
  EXPECT_THAT(reports_of(graph),
              testing::HasSubstr("note: Namespace early and one other do not wait for webhook v.example.com "
                                 "(ValidatingWebhookConfiguration admission)\n"
                                 "  because   waves or hooks order them before the objects that the webhook needs\n"));
}

TEST(Order, AWaveOfWhichNothingIsLeftEndsAfterTheOneBefore) {
  // The only object of wave 1 waits for the webhook, and that for a Job of a later step.
  Graph graph = graph_of(ingress_chart("ingresses") + R"(
- {apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: later, namespace: team, annotations: {argocd.argoproj.io/sync-wave: '1'}}}
)");
  ASSERT_FALSE(graph.has_errors()) << reports_of(graph);
  EXPECT_TRUE(has_order(graph));
  EXPECT_THAT(parts_of(graph, "wave 1"), ElementsAre("wave 0"));
  EXPECT_THAT(needs_of(graph), testing::Contains("Job web/patch -> wave 1 ready: wave 1 comes first"));
}

TEST(Order, HooksOfArgoAreNoted) {
  EXPECT_EQ(reports_of(graph_of(config_map("a", "argocd.argoproj.io/hook: PreSync"))),
            "note: ConfigMap default/a is applied with the others, although it is an Argo CD hook for PreSync\n"
            "  from      b.yaml:1\n");
}

TEST(Order, AWaveIsOneNode) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += config_map(fmt::format("c{}", i), fmt::format("argocd.argoproj.io/sync-wave: '{}'", i % 2));
  Graph graph = graph_of(text);
  EXPECT_EQ(needs_of(graph).size(), 200u);
}

TEST(Order, ALoopOfHardNeeds) {
  Graph graph = graph_of(config_map("a", "fairlead.dev/needs: ConfigMap/b") +
                         config_map("b", "config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/c") +
                         config_map("c", "argocd.argoproj.io/sync-wave: '1'"));
  EXPECT_EQ(reports_of(graph),
            "error: ConfigMap default/a is part of a dependency cycle\n"
            "  because   ConfigMap default/a (b.yaml:1) needs ConfigMap default/b to be ready: fairlead.dev/needs\n"
            "  because   ConfigMap default/b (b.yaml:7) needs ConfigMap default/c to be ready: "
            "config.kubernetes.io/depends-on\n"
            "  because   ConfigMap default/c (b.yaml:13) needs wave 0 to be ready: wave 0 comes first\n"
            "  because   wave 0 needs ConfigMap default/a to be ready: a part of it\n"
            "  from      b.yaml:1\n"
            "  next      remove one of these dependencies\n");
  EXPECT_TRUE(graph.has_errors());
}

TEST(Order, ALongChainIsNoProblem) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += config_map(fmt::format("c{}", i), fmt::format("fairlead.dev/needs: ConfigMap/c{}", i + 1));
  text += config_map("c3000");
  Graph graph = graph_of(text);
  EXPECT_TRUE(has_order(graph));
  EXPECT_EQ(reports_of(graph), "");
}

TEST(Order, ASoftNeedGivesWayToAHardOne) {
  Graph graph = graph_of(
      "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: team, annotations: {fairlead.dev/needs: "
      "Pod/p}}}\n---\n"
      "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: team}, spec: {serviceAccountName: a}}\n");
  EXPECT_THAT(needs_of(graph), ElementsAre("ServiceAccount team/a -> Pod team/p ready: fairlead.dev/needs"));
  EXPECT_EQ(reports_of(graph), "");
}

// Issuers and Certificates at random, so that soft needs make loops of every shape.
TEST(Order, SoftLoopsAlwaysComeUndone) {
  size_t dropped = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    unsigned count = 2 + random() % 12;
    std::string text;
    size_t referred = 0;
    for (unsigned i = 0; i < count; ++i) {
      unsigned issuer = random() % (count + 2);
      unsigned made = random() % (count + 2);
      text += fmt::format(
          "{{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {{name: c{0}, namespace: team}}, spec: "
          "{{secretName: "
          "s{0}, issuerRef: {{name: i{1}}}}}}}\n---\n"
          "{{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {{name: i{0}, namespace: team{3}}}, spec: {{ca: "
          "{{secretName: s{2}}}}}}}\n---\n",
          i, issuer, made,
          random() % 3 == 0 ? fmt::format(", annotations: {{fairlead.dev/needs: Certificate/c{}}}", i) : "");
      referred += (issuer < count ? 1u : 0u) + (made < count ? 1u : 0u);
    }
    Graph graph = graph_of(text);
    ASSERT_FALSE(graph.has_errors()) << reports_of(graph);
    EXPECT_TRUE(has_order(graph)) << "seed " << seed;
    size_t soft = 0;
    for (NodeId node : graph.nodes().ids())
      for (const Need& need : graph.needs_of(node)) soft += need.hard ? 0 : 1;
    dropped += referred > soft ? 1 : 0;
  }
  EXPECT_GT(dropped, 50u);
}

}  // namespace
}  // namespace fairlead::graph

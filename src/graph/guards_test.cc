#include <gmock/gmock.h>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A webhook with its Namespace, Service, Deployment and ServiceAccount in the namespace "hooks".
std::string operator_with(std::string_view rules, std::string_view rest = "") {
  return fmt::format(R"(apiVersion: v1
kind: List
items:
- {{apiVersion: v1, kind: Namespace, metadata: {{name: hooks}}}}
- {{apiVersion: v1, kind: ServiceAccount, metadata: {{name: hook, namespace: hooks}}}}
- {{apiVersion: v1, kind: Service, metadata: {{name: hook, namespace: hooks}}, spec: {{selector: {{app: hook}}}}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: hook, namespace: hooks}}
  spec: {{template: {{metadata: {{labels: {{app: hook}}}}, spec: {{serviceAccountName: hook}}}}}}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingWebhookConfiguration
  metadata: {{name: hook}}
  webhooks:
  - name: v.example.com
    clientConfig: {{service: {{namespace: hooks, name: hook}}}}
    rules: [{{operations: [CREATE, UPDATE], apiGroups: ['*'], apiVersions: ['*'], resources: [{}]}}]
    {}
)",
                     rules, rest);
}

std::string config_map(std::string_view name, std::string_view ns = "team", std::string_view labels = "") {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: {}, labels: {{{}}}}}\n",
                     name, ns, labels);
}

std::vector<std::string> matches_of(const Graph& graph, std::string_view object) {
  std::vector<std::string> lines;
  for (NodeId i : graph.objects()) {
    if (graph.text(i) != object) continue;
    for (const GuardMatch& match : graph.matches_of(i))
      lines.push_back(fmt::format("{} {}{}", graph.guards()[match.guard].name, name_of(match.certainty),
                                  match.by_pods ? " by pods" : ""));
  }
  return lines;
}

Json live_hook(std::string_view name, std::string_view resource, std::string_view rest = "") {
  return live(fmt::format(
      "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: {0}}}\n"
      "webhooks:\n- name: {0}.example.com\n  clientConfig: {{service: {{namespace: gone, name: {0}}}}}\n"
      "  rules: [{{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: [{1}]}}]\n  {2}\n",
      name, resource, rest));
}

TEST(Guards, AnObjectWaitsForTheWebhookAndThatForWhatAnswers) {
  Graph graph = graph_of(operator_with("configmaps") + config_map("c"));
  std::string guard = "webhook v.example.com (ValidatingWebhookConfiguration hook)";
  EXPECT_THAT(needs_of(graph), testing::IsSupersetOf<std::string>(
                                   {"ServiceAccount hooks/hook -> Namespace hooks: its namespace",
                                    "Service hooks/hook -> Namespace hooks: its namespace",
                                    "Deployment hooks/hook -> Namespace hooks: its namespace",
                                    "Deployment hooks/hook -> ServiceAccount hooks/hook soft: its ServiceAccount",
                                    "ConfigMap team/c -> " + guard + " ready: webhook v.example.com guards it",
                                    guard + " -> ValidatingWebhookConfiguration hook: its configuration",
                                    guard + " -> Service hooks/hook: its Service",
                                    guard + " -> Deployment hooks/hook ready: answers behind Service hooks/hook"}));
  EXPECT_THAT(matches_of(graph, "ConfigMap team/c"), ElementsAre("v.example.com certainly"));
  ASSERT_EQ(graph.guards().size(), 1u);
  EXPECT_THAT(graph.guards()[GuardId(0)].backed_by, ElementsAre(NodeId(2), NodeId(3)));
  EXPECT_EQ(graph.guards()[GuardId(0)].object, NodeId(4));
  EXPECT_FALSE(graph.guards()[GuardId(0)].in_cluster);
  EXPECT_EQ(graph.node_of_guard(GuardId(0)), NodeId(6));
  EXPECT_EQ(reports_of(graph), "");
}

TEST(Guards, WhatAGuardStandsOnIsExemptAndComesBeforeItsConfiguration) {
  Graph graph = graph_of(operator_with("'*'") + config_map("c"));
  EXPECT_THAT(exemptions_of(graph),
              ElementsAre("Namespace hooks: v.example.com", "ServiceAccount hooks/hook: v.example.com",
                          "Service hooks/hook: v.example.com", "Deployment hooks/hook: v.example.com"));
  std::vector<std::string> late;
  for (const std::string& line : needs_of(graph))
    if (line.starts_with("ValidatingWebhookConfiguration")) late.push_back(line);
  std::string hook = "ValidatingWebhookConfiguration hook -> ";
  std::string reason = " ready: webhook v.example.com would refuse it, and depends on it";
  EXPECT_THAT(late, ElementsAre(hook + "Namespace hooks" + reason, hook + "ServiceAccount hooks/hook" + reason,
                                hook + "Service hooks/hook" + reason, hook + "Deployment hooks/hook" + reason));
  EXPECT_TRUE(has_order(graph));
  EXPECT_FALSE(graph.has_errors());
  EXPECT_EQ(
      reports_of(graph),
      "warning: webhook v.example.com (ValidatingWebhookConfiguration hook) intercepts objects that it depends on: "
      "Namespace hooks, ServiceAccount hooks/hook, Service hooks/hook, Deployment hooks/hook\n"
      "  because   its failurePolicy is Fail: while it does not answer, these can be neither repaired nor replaced\n"
      "  from      b.yaml:11\n"
      "  next      exclude its own namespace with a namespaceSelector: {key: kubernetes.io/metadata.name, "
      "operator: NotIn, values: [hooks]}; or label these objects and exclude that label with an objectSelector\n"
      "warning: webhook v.example.com (ValidatingWebhookConfiguration hook) intercepts Leases in kube-node-lease and "
      "Leases in kube-system and pods in kube-system\n"
      "  because   its failurePolicy is Fail: while it does not answer, the cluster cannot run its own components\n"
      "  from      b.yaml:11\n"
      "  next      exclude these namespaces with a namespaceSelector: {key: kubernetes.io/metadata.name, operator: "
      "NotIn, "
      "values: [kube-node-lease, kube-system]}\n");
}

// The shape of Gatekeeper: its controller becomes ready only once it can read its own kinds and has its rights.
TEST(Guards, ItsOwnWebhookHoldsNoCrdAndNoRole) {
  std::string rest = R"(
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: widgets.example.com}
  spec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true}]}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: hooks}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: team}}
- {apiVersion: v1, kind: Namespace, metadata: {name: team}}
- {apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}
)";
  for (std::string_view policy : {"Ignore", "Fail"}) {
    Graph graph = graph_of(operator_with("'*'", fmt::format("failurePolicy: {}", policy)) + rest);
    EXPECT_THAT(exemptions_of(graph),
                ElementsAre("Namespace hooks: v.example.com", "ServiceAccount hooks/hook: v.example.com",
                            "Service hooks/hook: v.example.com", "Deployment hooks/hook: v.example.com",
                            "CustomResourceDefinition widgets.example.com: v.example.com",
                            "ClusterRole r: v.example.com", "Role hooks/r: v.example.com"))
        << policy;
    EXPECT_TRUE(has_order(graph)) << policy;
    EXPECT_FALSE(graph.has_errors()) << reports_of(graph);
  }
}

TEST(Guards, WhatItsWorkloadIsToldTheNameOfIsNotHeld) {
  std::string text = operator_with("configmaps", "failurePolicy: Ignore");
  std::string_view account = "serviceAccountName: hook";
  text.replace(text.find(account), account.size(),
               "containers: [{name: c, args: [--config=settings], env: [{name: METRICS, value: hooks/metrics}]}]");
  Graph graph = graph_of(text + config_map("settings", "hooks") + config_map("metrics", "hooks") +
                         config_map("other", "hooks") + config_map("settings", "team"));
  EXPECT_THAT(exemptions_of(graph),
              ElementsAre("ConfigMap hooks/settings: v.example.com", "ConfigMap hooks/metrics: v.example.com"));
}

// The ConfigMap kube-root-ca.crt of its namespace is nobody's, and no pod starts without it.
TEST(Guards, WhatWouldRefuseWhatControllersMakeForItsPodsIsRegisteredOnceTheyRun) {
  auto late = [](std::string_view rest) {
    std::vector<std::string> lines;
    for (const std::string& line : needs_of(graph_of(operator_with("configmaps", rest))))
      if (line.starts_with("ValidatingWebhookConfiguration")) lines.push_back(line);
    return lines;
  };
  EXPECT_THAT(late(""), ElementsAre("ValidatingWebhookConfiguration hook -> Service hooks/hook: webhook "
                                    "v.example.com would refuse the ConfigMap kube-root-ca.crt, which its pods need",
                                    "ValidatingWebhookConfiguration hook -> Deployment hooks/hook ready: webhook "
                                    "v.example.com would refuse the ConfigMap kube-root-ca.crt, which its pods need"));
  EXPECT_THAT(late("failurePolicy: Ignore"), IsEmpty());
  EXPECT_THAT(late("namespaceSelector: {matchLabels: {guarded: 'yes'}}"), IsEmpty());
  EXPECT_THAT(late("objectSelector: {matchLabels: {guarded: 'yes'}}"), IsEmpty());
}

TEST(Guards, WhatWouldRefuseTheInventoryIsRegisteredOnceItsPodsRun) {
  manifest::Bundle bundle = bundle_of(operator_with(
      "configmaps",
      "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [hooks]}]}"));
  auto late = [&](std::string inventory) {
    std::vector<std::string> lines;
    for (const std::string& line : needs_of(Graph::build(bundle, {}, {.inventory = std::move(inventory)})))
      if (line.starts_with("ValidatingWebhookConfiguration")) lines.push_back(line);
    return lines;
  };
  EXPECT_THAT(late(""), IsEmpty());
  EXPECT_THAT(late("fairlead-shop"),
              ElementsAre("ValidatingWebhookConfiguration hook -> Service hooks/hook: webhook v.example.com "
                          "would refuse the inventory of the bundle",
                          "ValidatingWebhookConfiguration hook -> Deployment hooks/hook ready: webhook v.example.com "
                          "would refuse the inventory of the bundle"));
}

TEST(Guards, WhatInterceptsTheRecordOfTheBundleIsToldBeforehand) {
  auto told = [](std::string_view rest) {
    manifest::Bundle bundle = bundle_of(operator_with("configmaps", rest));
    return reports_of(Graph::build(bundle, {}, {.default_namespace = "team", .inventory = "fairlead-shop"}));
  };
  constexpr std::string_view kElsewhere =
      "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [hooks]}]}";
  EXPECT_EQ(told(kElsewhere),
            "warning: webhook v.example.com (ValidatingWebhookConfiguration hook) intercepts the inventory of the "
            "bundle, ConfigMap team/fairlead-shop\n"
            "  because   its failurePolicy is Fail: while it does not answer, no run can claim the bundle or add "
            "objects to its inventory\n"
            "  from      b.yaml:11\n"
            "  next      exclude inventories with an objectSelector: {key: applyset.kubernetes.io/id, operator: "
            "DoesNotExist}\n");
  EXPECT_EQ(told("failurePolicy: Ignore"), "");
  // What is recommended helps.
  EXPECT_EQ(told("objectSelector: {matchExpressions: [{key: applyset.kubernetes.io/id, operator: DoesNotExist}]}"), "");
}

TEST(Guards, AWebhookThatIsKeptOutOfItsOwnNamespaceIsFine) {
  Graph graph =
      graph_of(operator_with("'*'",
                             "namespaceSelector: {matchExpressions: [{key: kubernetes.io/metadata.name, operator: "
                             "NotIn, values: [hooks, kube-system, kube-node-lease]}]}") +
               config_map("c"));
  EXPECT_THAT(exemptions_of(graph), IsEmpty());
  EXPECT_EQ(reports_of(graph), "");
  EXPECT_THAT(matches_of(graph, "ConfigMap team/c"), ElementsAre("v.example.com maybe"));
  EXPECT_THAT(matches_of(graph, "Namespace hooks"), IsEmpty());
}

TEST(Guards, OnesThatFailOpenAreRegisteredAtOnce) {
  Graph graph = graph_of(operator_with("serviceaccounts", "failurePolicy: Ignore"));
  EXPECT_THAT(exemptions_of(graph), ElementsAre("ServiceAccount hooks/hook: v.example.com"));
  for (const std::string& line : needs_of(graph)) EXPECT_FALSE(line.starts_with("Validating")) << line;
  EXPECT_EQ(reports_of(graph),
            "note: webhook v.example.com (ValidatingWebhookConfiguration hook) intercepts objects that it depends on: "
            "ServiceAccount "
            "hooks/hook\n"
            "  because   these are applied without waiting for it\n"
            "  from      b.yaml:11\n");
}

TEST(Guards, PodsOfAWorkloadMeetThem) {
  Graph graph = graph_of(operator_with("pods") + R"(
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec: {template: {metadata: {labels: {app: web}}}}
)");
  EXPECT_THAT(matches_of(graph, "Deployment team/web"), ElementsAre("v.example.com certainly by pods"));
  EXPECT_THAT(exemptions_of(graph), ElementsAre("Deployment hooks/hook: v.example.com"));
  EXPECT_THAT(reports_of(graph),
              testing::HasSubstr("intercepts objects that it depends on: the pods of Deployment hooks/hook\n"));
}

TEST(Guards, SelectorsAndConditions) {
  auto guards = [](std::string_view rest, std::string_view labels, std::string_view ns_labels) {
    ClusterState cluster;
    cluster.webhook_configurations.push_back(live_hook("h", "configmaps", rest));
    cluster.namespaces.push_back(
        live(fmt::format("{{apiVersion: v1, kind: Namespace, metadata: {{name: team, labels: {{{}}}}}}}", ns_labels)));
    return matches_of(graph_of(config_map("c", "team", labels), cluster), "ConfigMap team/c");
  };
  EXPECT_THAT(guards("", "", ""), ElementsAre("h.example.com certainly"));
  EXPECT_THAT(guards("namespaceSelector: {matchLabels: {a: b}}", "", ""), IsEmpty());
  EXPECT_THAT(guards("namespaceSelector: {matchLabels: {a: b}}", "", "a: b"), ElementsAre("h.example.com certainly"));
  EXPECT_THAT(guards("objectSelector: {matchLabels: {a: b}}", "", ""), IsEmpty());
  EXPECT_THAT(guards("objectSelector: {matchLabels: {a: b}}", "a: b", ""), ElementsAre("h.example.com maybe"));
  EXPECT_THAT(guards("matchConditions: [{name: x, expression: 'object.metadata.name == \"d\"'}]", "", ""), IsEmpty());
  EXPECT_THAT(guards("matchConditions: [{name: x, expression: 'object.metadata.name == \"c\"'}]", "", ""),
              ElementsAre("h.example.com certainly"));
  // A condition that cannot be evaluated in advance counts as matching.
  EXPECT_THAT(guards("matchConditions: [{name: x, expression: 'request.userInfo.username == \"jane\"'}]", "", ""),
              ElementsAre("h.example.com maybe"));
}

TEST(Guards, LabelsOfANamespaceAreThoseThatTheBundleGivesItAndTheRestOfItsOwn) {
  ClusterState cluster;
  cluster.namespaces.push_back(
      live("{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {guarded: 'no', zone: north}}}"));
  for (std::string_view labels : {"guarded: 'yes'", "guarded: 'no'", "zone: north"})
    cluster.webhook_configurations.push_back(
        live_hook(fmt::format("h{}", cluster.webhook_configurations.size()), "configmaps",
                  fmt::format("namespaceSelector: {{matchLabels: {{{}}}}}", labels)));
  Graph graph = graph_of(
      "{apiVersion: v1, kind: Namespace, metadata: {name: team, labels: {guarded: 'yes'}}}\n" + config_map("c"),
      cluster);
  EXPECT_THAT(matches_of(graph, "ConfigMap team/c"),
              ElementsAre("h0.example.com certainly", "h2.example.com certainly"));
}

TEST(Guards, LabelsOfTheObjectInTheClusterCount) {
  ClusterState cluster;
  cluster.webhook_configurations.push_back(live_hook("h", "configmaps", "objectSelector: {matchLabels: {a: b}}"));
  Json there = live("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: team, labels: {a: b}}}");
  cluster.find_live = [&](const object::Key& key) { return key.name == "c" ? &there : nullptr; };
  Graph graph = graph_of(config_map("c") + config_map("d"), cluster);
  EXPECT_THAT(matches_of(graph, "ConfigMap team/c"), ElementsAre("h.example.com maybe"));
  EXPECT_THAT(matches_of(graph, "ConfigMap team/d"), IsEmpty());
}

TEST(Guards, SeveralAreOneNode) {
  ClusterState cluster;
  for (std::string_view name : {"a", "b", "c"}) cluster.webhook_configurations.push_back(live_hook(name, "configmaps"));
  cluster.webhook_configurations.push_back(live_hook("shadow", "'*'"));
  cluster.webhook_configurations.back().make("metadata").make("labels").make("fairlead.dev/shadow") = "run";
  std::string text;
  for (int i = 0; i < 50; ++i) text += config_map(fmt::format("c{}", i));
  Graph graph = graph_of(text, cluster);
  ASSERT_EQ(graph.guards().size(), 3u);
  EXPECT_TRUE(graph.guards()[GuardId(0)].in_cluster);
  EXPECT_EQ(graph.guards()[GuardId(0)].object, std::nullopt);
  EXPECT_EQ(needs_of(graph).size(), 53u);
  EXPECT_EQ(needs_of(graph)[0],
            "ConfigMap team/c0 -> webhook a.example.com and 2 others ready: the webhooks and policies that guard it");
  EXPECT_EQ(graph.matches_of(NodeId(7)).size(), 3u);
}

TEST(Guards, ThoseInBothAreAsTheBundleMakesThem) {
  ClusterState cluster;
  cluster.webhook_configurations.push_back(live_hook("hook", "secrets"));
  Graph graph = graph_of(operator_with("configmaps") + config_map("c"), cluster);
  ASSERT_EQ(graph.guards().size(), 1u);
  EXPECT_TRUE(graph.guards()[GuardId(0)].in_cluster);
  EXPECT_EQ(graph.guards()[GuardId(0)].name, "v.example.com");
}

TEST(Guards, WhatAnswersBehindAServiceOfTheClusterBacksThem) {
  ClusterState cluster;
  cluster.webhook_configurations.push_back(live_hook("h", "configmaps"));
  for (std::string_view ns : {"elsewhere", "gone"})
    cluster.services.push_back(
        live(fmt::format("{{apiVersion: v1, kind: Service, metadata: {{name: h, namespace: {0}}}, spec: {{selector: "
                         "{{app: {0}}}}}}}",
                         ns)));
  std::string text = config_map("c");
  for (std::string_view app : {"elsewhere", "gone"})
    text += fmt::format(
        "---\n{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {0}, namespace: gone}}, spec: {{template: "
        "{{metadata: {{labels: {{app: {0}}}}}}}}}}}\n",
        app);
  Graph graph = graph_of(text, cluster);
  std::string guard = "webhook h.example.com (ValidatingWebhookConfiguration h)";
  EXPECT_THAT(needs_of(graph), ElementsAre("ConfigMap team/c -> " + guard + " ready: webhook h.example.com guards it",
                                           guard + " -> Deployment gone/gone ready: answers behind Service gone/h"));
  ASSERT_EQ(graph.guards().size(), 1u);
  EXPECT_THAT(graph.guards()[GuardId(0)].backed_by, ElementsAre(NodeId(2)));
}

TEST(Guards, CertificatesOfAWebhook) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Service, metadata: {name: hook, namespace: hooks}, spec: {selector: {app: hook}}}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: hook, namespace: hooks}
  spec: {template: {metadata: {labels: {app: hook}}, spec: {volumes: [{name: tls, secret: {secretName: tls}}]}}}
- {apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: hooks}}
- {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: c, namespace: hooks}, spec: {secretName: other}}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: patch, namespace: hooks}
  spec: {template: {spec: {containers: [{name: c, image: certgen, args: [--webhook-name=config]}]}}}
- apiVersion: batch/v1
  kind: Job
  metadata: {name: other, namespace: hooks}
  spec: {template: {spec: {containers: [{name: c, image: smoke, args: [--url=hook]}]}}}
- apiVersion: admissionregistration.k8s.io/v1
  kind: MutatingWebhookConfiguration
  metadata: {name: config, annotations: {cert-manager.io/inject-ca-from: hooks/c}}
  webhooks: [{name: m.example.com, clientConfig: {service: {namespace: hooks, name: hook}}}]
)");
  std::string guard = "webhook m.example.com (MutatingWebhookConfiguration config) -> ";
  EXPECT_THAT(needs_of(graph),
              ElementsAre("Deployment hooks/hook -> Secret hooks/tls soft: volume tls",
                          "Job hooks/patch -> MutatingWebhookConfiguration config soft: it puts the certificate there",
                          guard + "MutatingWebhookConfiguration config: its configuration",
                          guard + "Service hooks/hook: its Service",
                          guard + "Deployment hooks/hook ready: answers behind Service hooks/hook",
                          guard + "Secret hooks/tls: its certificate", guard + "Certificate hooks/c: its certificate",
                          guard + "Job hooks/patch ready: makes its certificate"));
}

TEST(Guards, PoliciesThroughTheirBindings) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: p}
  spec:
    paramKind: {apiVersion: v1, kind: ConfigMap}
    matchConstraints: {resourceRules: [{operations: [CREATE, UPDATE], apiGroups: [''], apiVersions: [v1], resources: [secrets]}]}
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: b}
  spec: {policyName: p, paramRef: {name: params, namespace: team}, validationActions: [Deny]}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: params, namespace: team}}
- {apiVersion: v1, kind: Secret, metadata: {name: s, namespace: team}}
)");
  std::string guard = "policy p (ValidatingAdmissionPolicyBinding b)";
  EXPECT_THAT(needs_of(graph),
              ElementsAre("ValidatingAdmissionPolicyBinding b -> ValidatingAdmissionPolicy p soft: its policy",
                          "ValidatingAdmissionPolicyBinding b -> ConfigMap team/params soft: its parameters",
                          "Secret team/s -> " + guard + " ready: policy p guards it",
                          guard + " -> ValidatingAdmissionPolicyBinding b: its configuration",
                          guard + " -> ValidatingAdmissionPolicy p: its policy",
                          guard + " -> ConfigMap team/params: its parameters"));
  EXPECT_THAT(matches_of(graph, "Secret team/s"), ElementsAre("p maybe"));
}

TEST(Guards, ParametersBySelectorAndPerNamespace) {
  constexpr std::string_view kPolicy = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: ["*"], resources: [services]}]}
  validations: [{expression: "true"}]
)";
  constexpr std::string_view kParameters = R"(---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: a, labels: {limits: "yes"}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: b}}
---
{apiVersion: v1, kind: Service, metadata: {name: web, namespace: a}}
)";
  auto binding = [](std::string_view ref) {
    return fmt::format(R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: b}}
spec: {{policyName: p, validationActions: [Deny], paramRef: {{parameterNotFoundAction: Deny, {}}}}}
)",
                       ref);
  };
  auto parameters = [](const Graph& graph) {
    EXPECT_EQ(graph.guards().size(), 1u);
    std::string names;
    for (NodeId node : graph.guards()[GuardId(0)].backed_by)
      if (graph.key(node).kind == "ConfigMap") names += graph.key(node).text() + "\n";
    return names;
  };
  auto check = [&](std::string_view ref, std::string_view expected) {
    std::string both = fmt::format("{}---{}", kPolicy, binding(ref));
    EXPECT_EQ(parameters(graph_of(both + std::string(kParameters))), expected) << ref;
    // The same where only the parameters come with the bundle.
    ClusterState cluster;
    cluster.policies.push_back(live(kPolicy));
    cluster.bindings.push_back(live(binding(ref)));
    EXPECT_EQ(parameters(graph_of(kParameters.substr(3), cluster)), expected) << ref;
  };
  check("selector: {matchLabels: {limits: \"yes\"}}", "ConfigMap a/one\n");
  check("selector: {matchLabels: {limits: \"yes\"}}, namespace: b", "");
  check("selector: {}", "ConfigMap a/one\nConfigMap b/one\n");
  check("name: one", "ConfigMap a/one\nConfigMap b/one\n");
  check("name: one, namespace: b", "ConfigMap b/one\n");
}

TEST(Guards, ConversionAndApiService) {
  Graph graph = graph_of(R"(
apiVersion: v1
kind: List
items:
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  metadata: {name: widgets.example.com}
  spec:
    group: example.com
    scope: Cluster
    names: {kind: Widget, plural: widgets}
    versions: [{name: v1, served: true}, {name: v2, served: true}]
    conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: hooks, name: hook, path: /convert}}}}
- {apiVersion: example.com/v2, kind: Widget, metadata: {name: w}}
- {apiVersion: v1, kind: Service, metadata: {name: hook, namespace: hooks}, spec: {selector: {app: hook}}}
- {apiVersion: v1, kind: Pod, metadata: {name: hook, namespace: hooks, labels: {app: hook}}}
- {apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.gadgets.io}, spec: {group: gadgets.io, version: v1, service: {namespace: hooks, name: hook}}}
- {apiVersion: gadgets.io/v1, kind: Gadget, metadata: {name: g}}
)");
  std::string conversion = "conversion of widgets.example.com";
  std::string api = "APIService v1.gadgets.io";
  EXPECT_THAT(
      needs_of(graph),
      ElementsAre("Widget w -> CustomResourceDefinition widgets.example.com ready: its CRD",
                  "Widget w -> " + conversion + " ready: conversion of widgets.example.com guards it",
                  "APIService v1.gadgets.io -> Service hooks/hook soft: its Service",
                  "Gadget g -> " + api + " ready: APIService v1.gadgets.io guards it",
                  conversion + " -> CustomResourceDefinition widgets.example.com ready: its CRD",
                  conversion + " -> Service hooks/hook: its Service",
                  conversion + " -> Pod hooks/hook ready: answers behind Service hooks/hook",
                  api + " -> APIService v1.gadgets.io: its configuration", api + " -> Service hooks/hook: its Service",
                  api + " -> Pod hooks/hook ready: answers behind Service hooks/hook"));
  EXPECT_EQ(graph.guards()[GuardId(0)].service->path, "/convert");
}

TEST(Guards, TwoThatGuardEachOther) {
  std::string text;
  for (std::string_view name : {"one", "two"})
    text += fmt::format(R"(---
{{apiVersion: v1, kind: Service, metadata: {{name: {0}, namespace: hooks}}, spec: {{selector: {{app: {0}}}}}}}
---
{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {0}, namespace: hooks}}, spec: {{template: {{metadata: {{labels: {{app: {0}}}}}}}}}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: {0}}}
webhooks:
- name: {0}.example.com
  clientConfig: {{service: {{namespace: hooks, name: {0}}}}}
  rules: [{{operations: [CREATE], apiGroups: [apps], apiVersions: ['*'], resources: [deployments]}}]
)",
                        name);
  Graph graph = graph_of(text);
  EXPECT_THAT(exemptions_of(graph),
              ElementsAre("Deployment hooks/one: one.example.com", "Deployment hooks/one: two.example.com",
                          "Deployment hooks/two: one.example.com", "Deployment hooks/two: two.example.com"));
  EXPECT_TRUE(has_order(graph));
  EXPECT_FALSE(graph.has_errors());
}

TEST(Guards, ALoopThroughAGuardThatSomebodyAskedFor) {
  Graph graph = graph_of(operator_with("configmaps") + config_map("c") + R"(
---
{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: hooks, annotations: {fairlead.dev/needs: ConfigMap/team/c}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: hooks, labels: {app: hook}, annotations: {fairlead.dev/needs: Secret/s}}}
)");
  EXPECT_EQ(
      reports_of(graph),
      "error: ConfigMap team/c is part of a dependency cycle\n"
      "  because   ConfigMap team/c (b.yaml:20) needs webhook v.example.com (ValidatingWebhookConfiguration hook) to "
      "be "
      "ready: webhook v.example.com guards it\n"
      "  because   webhook v.example.com (ValidatingWebhookConfiguration hook) needs Pod hooks/p to be ready: answers "
      "behind Service hooks/hook\n"
      "  because   Pod hooks/p (b.yaml:27) needs Secret hooks/s to be ready: fairlead.dev/needs\n"
      "  because   Secret hooks/s (b.yaml:25) needs ConfigMap team/c to be ready: fairlead.dev/needs\n"
      "  from      b.yaml:20\n"
      "  next      remove one of these dependencies\n");
}

}  // namespace
}  // namespace fairlead::graph

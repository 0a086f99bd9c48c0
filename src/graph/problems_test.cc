// What is seen beforehand to go wrong, word by word.
#include <gmock/gmock.h>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

std::string config_map(std::string_view name, std::string_view ns = "team") {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, namespace: {}}}\n", name, ns);
}

TEST(Problems, TwoObjectsWithOneKey) {
  EXPECT_EQ(reports_of(graph_of("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n"
                                "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}\n")),
            "error: ConfigMap default/a is in the bundle twice\n"
            "  because   it is first defined at b.yaml:1\n"
            "  from      b.yaml:3\n"
            "  next      remove one of the two from the bundle\n");
}

TEST(Problems, NamespacesThatAreNowhere) {
  ClusterState cluster;
  std::string text = config_map("a") + config_map("b") + config_map("c") + config_map("d", "there");
  EXPECT_EQ(reports_of(graph_of(text, cluster)), "");
  cluster.namespaces_known = true;
  cluster.namespaces.push_back(live("{apiVersion: v1, kind: Namespace, metadata: {name: there}}"));
  EXPECT_EQ(reports_of(graph_of(text, cluster)),
            "error: ConfigMap team/a and 2 others cannot be applied\n"
            "  because   namespace team is neither in the bundle nor in the cluster\n"
            "  from      b.yaml:2\n"
            "  next      add it to the bundle, or: kubectl create namespace team\n");
}

TEST(Problems, KindsThatNobodyServes) {
  ClusterState cluster;
  object::Resource config_maps{
      .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .namespaced = true};
  cluster.find_resource = [&](std::string_view, std::string_view, std::string_view kind) {
    return kind == "ConfigMap" ? &config_maps : nullptr;
  };
  std::string widgets = R"(---
{apiVersion: example.com/v2, kind: Widget, metadata: {name: w}}
---
{apiVersion: example.com/v2, kind: Widget, metadata: {name: x}}
)";
  EXPECT_EQ(reports_of(graph_of(config_map("a") + widgets, cluster)),
            "error: Widget w and one other cannot be applied\n"
            "  because   the cluster does not serve kind Widget in example.com/v2\n"
            "  from      b.yaml:6\n"
            "  next      add its CRD to the bundle, or mark the object that makes it with the annotation "
            "fairlead.dev/makes: Widget.example.com\n");
  cluster.why_missing = [](std::string_view, std::string_view, std::string_view) {
    return Error(ErrorKind::not_found, "its server is down").next("kubectl get apiservices");
  };
  EXPECT_EQ(reports_of(graph_of(widgets, cluster)),
            "error: Widget w and one other cannot be applied\n"
            "  because   its server is down\n"
            "  from      b.yaml:2\n"
            "  next      kubectl get apiservices\n");
  cluster.definitions.push_back(live(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Widget, plural: widgets}, versions: [{name: v1, served: true}, {name: v2, served: false}]}
)"));
  EXPECT_EQ(reports_of(graph_of(widgets, cluster)),
            "error: Widget w and one other cannot be applied\n"
            "  because   its CRD serves example.com/v1, not example.com/v2\n"
            "  from      b.yaml:2\n"
            "  next      change its apiVersion, or the CRD\n");
}

TEST(Problems, BindingsWithoutAPolicy) {
  ClusterState cluster;
  std::string text = R"(
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: b}
spec: {policyName: p}
)";
  EXPECT_EQ(reports_of(graph_of(text, cluster)), "");
  cluster.policies_known = true;
  EXPECT_EQ(reports_of(graph_of(text, cluster)),
            "error: ValidatingAdmissionPolicyBinding b binds nothing\n"
            "  because   ValidatingAdmissionPolicy p is neither in the bundle nor in the cluster\n"
            "  from      b.yaml:2\n"
            "  next      add the policy to the bundle, or change spec.policyName\n");
}

std::string hook(std::string_view rest = "") {
  return fmt::format(R"(apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: old}}
webhooks:
- name: v.example.com
  clientConfig: {{service: {{namespace: gone, name: hook}}}}
  rules: [{{operations: ['*'], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}}]
  {}
)",
                     rest);
}

TEST(Problems, AWebhookOfTheBundleWhoseServiceIsNowhere) {
  ClusterState cluster;
  EXPECT_EQ(reports_of(graph_of(hook(), cluster)), "");
  cluster.services_known = true;
  EXPECT_EQ(reports_of(graph_of(hook(), cluster)),
            "error: webhook v.example.com (ValidatingWebhookConfiguration old) can never answer\n"
            "  because   its Service gone/hook is neither in the bundle nor in the cluster\n"
            "  from      b.yaml:1\n"
            "  next      add the Service to the bundle, or correct the reference\n");
  EXPECT_EQ(reports_of(graph_of(hook("failurePolicy: Ignore"), cluster)), "");
  cluster.services.push_back(live("{apiVersion: v1, kind: Service, metadata: {name: hook, namespace: gone}}"));
  EXPECT_EQ(reports_of(graph_of(hook(), cluster)), "");
}

TEST(Problems, AServiceThatSelectsNothing) {
  EXPECT_EQ(reports_of(graph_of(hook() + R"(
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: gone}
spec: {selector: {app: hook}}
)")),
            "warning: webhook v.example.com (ValidatingWebhookConfiguration old) may never answer\n"
            "  because   Service gone/hook selects no pods of the bundle\n"
            "  from      b.yaml:11\n"
            "  next      compare its selector with the labels of the pods: kubectl -n gone get pods --show-labels\n");
}

TEST(Problems, AnOrphanThatRefusesEverything) {
  ClusterState cluster;
  cluster.webhook_configurations.push_back(live(hook()));
  std::string text = config_map("a") + config_map("b");
  EXPECT_EQ(reports_of(graph_of(text, cluster)), "");
  cluster.services_known = true;
  EXPECT_EQ(
      reports_of(graph_of(text, cluster)),
      "error: webhook v.example.com (ValidatingWebhookConfiguration old) will refuse ConfigMap team/a and one other\n"
      "  because   its Service gone/hook is neither in the cluster nor in the bundle\n"
      "  from      b.yaml:2\n"
      "  next      kubectl delete validatingwebhookconfiguration old\n");
  EXPECT_EQ(reports_of(graph_of("{apiVersion: v1, kind: Secret, metadata: {name: s}}", cluster)), "");
  cluster.webhook_configurations = {live(hook("namespaceSelector: {matchLabels: {a: b}}"))};
  EXPECT_EQ(reports_of(graph_of(config_map("a"), cluster)),
            "warning: webhook v.example.com (ValidatingWebhookConfiguration old) may refuse ConfigMap team/a\n"
            "  because   its Service gone/hook is neither in the cluster nor in the bundle\n"
            "  from      b.yaml:2\n"
            "  next      kubectl delete validatingwebhookconfiguration old\n");
  cluster.webhook_configurations = {live(hook("failurePolicy: Ignore"))};
  EXPECT_EQ(reports_of(graph_of(config_map("a"), cluster)), "");
}

TEST(Problems, TheWorstComeFirst) {
  Graph graph = graph_of(R"(
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {helm.sh/hook: test}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: b, annotations: {fairlead.dev/needs: x}}}
)");
  ASSERT_EQ(graph.problems().size(), 2u);
  EXPECT_EQ(graph.problems()[0].severity, Severity::error);
  EXPECT_EQ(graph.problems()[0].node, NodeId(1));
  EXPECT_EQ(graph.problems()[1].severity, Severity::note);
  EXPECT_TRUE(graph.has_errors());
}

}  // namespace
}  // namespace fairlead::graph

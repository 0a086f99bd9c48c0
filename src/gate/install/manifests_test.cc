#include "gate/install/manifests.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace fairlead::gate {
namespace {

using testing::HasSubstr;
using testing::Not;

InstallSettings settings() {
  InstallSettings settings;
  settings.image = "registry.example.com/fairlead:1";
  return settings;
}

// The first object of that kind.
Json made(std::string_view kind, const InstallSettings& from = settings()) {
  for (const Json& object : manifests(from))
    if (object["kind"].string_or("") == kind) return object;
  return {};
}

TEST(Manifests, are_what_a_cluster_needs_in_an_order_that_it_can_take) {
  std::vector<std::string> kinds;
  for (const Json& object : manifests(settings())) kinds.emplace_back(object["kind"].string_or(""));
  EXPECT_THAT(kinds, testing::ElementsAre("Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role",
                                          "RoleBinding", "Role", "RoleBinding", "Service", "ResourceQuota",
                                          "Deployment", "PodDisruptionBudget"));
}

TEST(Manifests, run_two_replicas_apart_without_root) {
  Json deployment = made("Deployment");
  const Json& spec = deployment["spec"];
  EXPECT_EQ(spec["replicas"].int_or(0), 2);
  EXPECT_EQ(spec["strategy"]["rollingUpdate"]["maxUnavailable"].int_or(1), 0);
  const Json& pod = spec["template"]["spec"];
  EXPECT_EQ(pod["topologySpreadConstraints"].item(0)["topologyKey"].string_or(""), "kubernetes.io/hostname");
  EXPECT_TRUE(pod["securityContext"]["runAsNonRoot"].bool_or(false));
  const Json& container = pod["containers"].item(0);
  EXPECT_TRUE(container["securityContext"]["readOnlyRootFilesystem"].bool_or(false));
  EXPECT_FALSE(container["securityContext"]["allowPrivilegeEscalation"].bool_or(true));
  EXPECT_EQ(container["securityContext"]["capabilities"]["drop"].dump(), R"(["ALL"])");
  EXPECT_EQ(made("PodDisruptionBudget")["spec"]["maxUnavailable"].int_or(0), 1);
}

TEST(Manifests, have_a_quota_where_a_cluster_may_ask_for_one) {
  EXPECT_EQ(made("Deployment")["spec"]["template"]["spec"]["priorityClassName"].string_or(""),
            "system-cluster-critical");
  EXPECT_EQ(made("ResourceQuota")["spec"].dump(),
            R"({"hard":{"pods":"1000"},"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass",)"
            R"("operator":"In","values":["system-cluster-critical","system-node-critical"]}]}})");
  InstallSettings other = settings();
  other.ns = "kube-system";
  EXPECT_TRUE(made("ResourceQuota", other).is_null());
  other = settings();
  other.priority_class = "platform";
  EXPECT_TRUE(made("ResourceQuota", other).is_null());
  EXPECT_EQ(made("Deployment", other)["spec"]["template"]["spec"]["priorityClassName"].string_or(""), "platform");
  other.priority_class = "";
  EXPECT_TRUE(made("ResourceQuota", other).is_null());
  EXPECT_TRUE(made("Deployment", other)["spec"]["template"]["spec"]["priorityClassName"].is_null());
}

TEST(Manifests, pass_the_patience_on) {
  InstallSettings patient = settings();
  patient.patience = "2m";
  std::string arguments = made("Deployment", patient)["spec"]["template"]["spec"]["containers"].item(0)["args"].dump();
  EXPECT_THAT(arguments, HasSubstr(R"("--patience=2m")"));
  EXPECT_THAT(arguments, Not(HasSubstr("--patience-gone")));
}

TEST(Manifests, give_no_right_to_write_what_is_not_the_gates) {
  Json role = made("ClusterRole");
  for (const Json& rule : role["rules"].items()) {
    std::string text = rule.dump();
    bool is_own = text.contains("mutatingwebhookconfigurations");
    for (std::string_view verb : {"\"create\"", "\"delete\""}) EXPECT_EQ(text.contains(verb), is_own) << text;
    for (std::string_view verb : {"update", "patch", "*", "secrets"}) EXPECT_THAT(text, Not(HasSubstr(verb)));
  }
}

TEST(Manifests, have_the_rights_for_shadows_only_with_them) {
  InstallSettings witnessed = settings();
  witnessed.shadows = true;
  EXPECT_THAT(made("ClusterRole", witnessed)["rules"].dump(), HasSubstr("runtimeclasses"));
  EXPECT_THAT(made("Deployment", witnessed).dump(), HasSubstr("\"--shadows\""));
  EXPECT_THAT(made("ClusterRole")["rules"].dump(), Not(HasSubstr("runtimeclasses")));
  EXPECT_THAT(made("Deployment").dump(), Not(HasSubstr("--shadows")));
}

TEST(Settings, are_checked) {
  EXPECT_TRUE(check(settings()));
  InstallSettings wrong = settings();
  wrong.image.clear();
  EXPECT_EQ(check(wrong).error().report(),
            "error: the image of the gate is not known\n  next      give --image IMAGE\n");
  wrong = settings();
  wrong.name = "Gate";
  EXPECT_THAT(check(wrong).error().message(), HasSubstr("\"Gate\" cannot be the name of a gate"));
  wrong = settings();
  wrong.ns = "no/namespace";
  EXPECT_FALSE(check(wrong));
}

}  // namespace
}  // namespace fairlead::gate

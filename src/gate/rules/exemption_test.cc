#include "gate/rules/exemption.h"

#include <gmock/gmock.h>

#include "gate/rules/rules_testing.h"

namespace fairlead::gate {
namespace {

using admission::Operation;

std::string_view exempt(const webhook::Request& request) { return exemption(request, "fairlead-gate"); }

TEST(Exemption, is_not_for_what_people_and_controllers_write) {
  EXPECT_EQ(exempt(widget()), "");
  webhook::Request update = widget();
  update.operation = Operation::update;
  update.old_object = update.object;
  EXPECT_EQ(exempt(update), "");
  EXPECT_EQ(exempt(built_in("configmaps", "ConfigMap", "team")), "");
  webhook::Request flux = widget();
  flux.user.name = "system:serviceaccount:flux-system:kustomize-controller";
  EXPECT_EQ(exempt(flux), "");
  // Flux, Argo CD and kubectl diff begin with a dry run.
  flux.dry_run = true;
  flux.options = parsed(R"({"fieldManager":"kustomize-controller"})");
  EXPECT_EQ(exempt(flux), "");
}

TEST(Exemption, is_for_what_is_no_write) {
  webhook::Request request = widget();
  request.operation = Operation::remove;
  EXPECT_EQ(exempt(request), "it is no write");
  request.operation = Operation::connect;
  EXPECT_EQ(exempt(request), "it is no write");
}

TEST(Exemption, is_for_subresources) {
  webhook::Request request = widget();
  request.subresource = "status";
  EXPECT_EQ(exempt(request), "it is for a subresource");
}

TEST(Exemption, is_for_objects_that_are_being_deleted) {
  webhook::Request request = widget();
  request.object.make("metadata").make("deletionTimestamp") = "2030-01-01T00:00:00Z";
  EXPECT_EQ(exempt(request), "the object is being deleted");
  std::swap(request.object, request.old_object);
  EXPECT_EQ(exempt(request), "the object is being deleted");
}

TEST(Exemption, is_for_kinds_that_the_cluster_needs) {
  for (auto [group, resource] : {std::pair("", "nodes"),
                                 {"", "events"},
                                 {"", "endpoints"},
                                 {"", "bindings"},
                                 {"events.k8s.io", "events"},
                                 {"coordination.k8s.io", "leases"},
                                 {"discovery.k8s.io", "endpointslices"},
                                 {"certificates.k8s.io", "certificatesigningrequests"},
                                 {"admissionregistration.k8s.io", "validatingwebhookconfigurations"}})
    EXPECT_EQ(exempt(built_in(resource, "X", "team", group)), "the cluster needs objects of this kind") << resource;
}

TEST(Exemption, is_for_whoever_runs_the_cluster) {
  for (std::string_view name : {"system:apiserver", "system:kube-controller-manager", "system:kube-scheduler",
                                "system:kube-proxy", "system:cloud-controller-manager", "system:node:n1",
                                "system:serviceaccount:kube-system:replicaset-controller"}) {
    webhook::Request request = widget();
    request.user.name = name;
    EXPECT_EQ(exempt(request), "the user runs the cluster") << name;
  }
  webhook::Request node = widget();
  node.user.groups = {"system:nodes"};
  EXPECT_EQ(exempt(node), "the user runs the cluster");
}

TEST(Exemption, is_for_namespaces_of_the_cluster_and_of_the_gate) {
  EXPECT_EQ(exempt(widget("w", "kube-system")), "it is in a namespace of the cluster");
  EXPECT_EQ(exempt(widget("w", "kube-node-lease")), "it is in a namespace of the cluster");
  EXPECT_EQ(exempt(widget("w", "fairlead-gate")), "it is in the namespace of the gate");
}

TEST(Exemption, is_for_probes_of_fairlead_and_not_for_other_dry_runs) {
  webhook::Request request = widget();
  request.dry_run = true;
  request.options = parsed(R"({"fieldManager":"fairlead-run1-3"})");
  EXPECT_EQ(exempt(request), "it is a probe of Fairlead");
  request.options = parsed(R"({"fieldManager":"fairlead"})");
  EXPECT_EQ(exempt(request), "");
}

class MayBackTest : public testing::Test {
 protected:
  MayBackTest() { kinds_.set(widget_definition()); }
  bool may(const webhook::Request& request, const Hook& awaited = hook()) const {
    return may_back(request, awaited, backing_, kinds_);
  }
  std::set<std::string, std::less<>> backing_ = {"shop", "other-operator"};
  CustomKinds kinds_;
};

TEST_F(MayBackTest, holds_for_built_in_objects_in_the_namespace_of_the_webhook) {
  for (auto [resource, group] : {std::pair("secrets", ""),
                                 {"configmaps", ""},
                                 {"services", ""},
                                 {"pods", ""},
                                 {"deployments", "apps"},
                                 {"jobs", "batch"},
                                 {"rolebindings", "rbac.authorization.k8s.io"}})
    EXPECT_TRUE(may(built_in(resource, "X", "shop", group))) << resource;
  EXPECT_FALSE(may(built_in("deployments", "Deployment", "team", "apps")));
}

TEST_F(MayBackTest, holds_in_the_namespaces_of_all_awaited_webhooks) {
  EXPECT_TRUE(may(built_in("services", "Service", "other-operator")));
}

TEST_F(MayBackTest, does_not_hold_for_objects_that_the_operator_is_there_for) {
  EXPECT_FALSE(may(widget("w", "shop")));
  Hook guards_all = hook(R"({"rules":[{"operations":["*"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]})");
  EXPECT_TRUE(may(widget("w", "shop"), guards_all));
  EXPECT_FALSE(may(widget("w", "team"), guards_all));
}

TEST_F(MayBackTest, does_not_hold_for_them_before_the_gate_has_seen_their_CRD) {
  kinds_ = CustomKinds();
  EXPECT_FALSE(may(widget("w", "shop")));
}

TEST_F(MayBackTest, holds_for_the_namespace_itself_and_for_built_in_objects_without_one) {
  webhook::Request ns = built_in("namespaces", "Namespace", "shop");
  ns.name = "shop";
  EXPECT_TRUE(may(ns));
  ns.name = ns.ns = "team";
  EXPECT_FALSE(may(ns));
  EXPECT_TRUE(may(built_in("clusterroles", "ClusterRole", "", "rbac.authorization.k8s.io")));
  EXPECT_TRUE(may(built_in("customresourcedefinitions", "CustomResourceDefinition", "", "apiextensions.k8s.io")));
}

TEST_F(MayBackTest, holds_for_what_its_service_accounts_write) {
  webhook::Request request = widget();
  request.user.name = "system:serviceaccount:shop:operator";
  EXPECT_TRUE(may(request));
  request.user.name = "system:serviceaccount:shopping:operator";
  EXPECT_FALSE(may(request));
}

}  // namespace
}  // namespace fairlead::gate

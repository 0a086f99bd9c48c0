// What is deleted, what is not, and what the state knows afterwards.
#include "terraform/object/object_testing.h"

namespace fairlead::terraform {
namespace {

using namespace std::chrono_literals;

class ObjectDeletionTest : public ObjectTest {
 protected:
  // The answer to each DELETE, until it is null.
  void refuse_deletions(int status, std::string says, int times = 1000) {
    transport_.says = std::move(says);
    transport_.answers = [this, status, times](const http::Request& request) mutable {
      if (request.method != "DELETE" || times == 0) return 0;
      --times;
      ++refused_;
      return status;
    };
  }
  int refused_ = 0;
};

TEST_F(ObjectDeletionTest, AnotherObjectThatTakesTheNameJustBeforeIsNotDeleted) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  refuse_deletions(409, "Precondition failed: UID in precondition: x, UID in object meta: y");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(refused_, 1);
  EXPECT_TRUE(state_.is_null());
}

TEST_F(ObjectDeletionTest, TheRequestNamesTheObjectThatWasApplied) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}"), {{"delete_cascade", "orphan"}}))), "");
  std::string uid(get(std::string(kSettings))["metadata"]["uid"].string_or("none"));
  std::vector<std::string> bodies;
  transport_.before = [&](const http::Request& request) {
    if (request.method == "DELETE") bodies.push_back(request.body);
  };
  EXPECT_EQ(text_of(destroy()), "");
  ASSERT_FALSE(bodies.empty());
  EXPECT_TRUE(bodies[0].contains(uid)) << bodies[0];
  EXPECT_TRUE(bodies[0].contains("Orphan")) << bodies[0];
}

TEST_F(ObjectDeletionTest, AnyOtherConflictIsNoReasonToForgetTheObject) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  refuse_deletions(409, "Operation cannot be fulfilled: the object has been modified", 2);
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(refused_, 2);
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectDeletionTest, AnObjectThatLostItsAnnotationIsDeletedAllTheSame) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  TestPlan planned = plan({});
  merge(std::string(kSettings), R"({"metadata":{"annotations":null}})");
  EXPECT_EQ(text_of(apply_plan(planned, {})), "");
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectDeletionTest, WhatMayNotBeDeletedStaysInTheState) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  refuse_deletions(403, "may not");
  EXPECT_TRUE(text_of(destroy()).starts_with("error: The object was not deleted (ConfigMap default/settings)"));
  EXPECT_EQ(refused_, 1);
  EXPECT_FALSE(state_.is_null());
}

TEST_F(ObjectDeletionTest, AServerThatIsBusyIsAskedAgain) {
  EXPECT_EQ(text_of(apply(with(config_map("{a: \"1\"}")))), "");
  refuse_deletions(500, "the server is busy", 3);
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_EQ(refused_, 3);
  EXPECT_TRUE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectDeletionTest, WhatIsProtectedInTheClusterStays) {
  std::string yaml =
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, annotations: {fairlead.dev/delete: protected}}\n";
  EXPECT_EQ(text_of(apply(with(yaml))), "");
  std::string text = text_of(destroy());
  EXPECT_TRUE(text.contains("it has the annotation fairlead.dev/delete: protected")) << text;
  EXPECT_FALSE(state_.is_null());
  EXPECT_FALSE(get(std::string(kSettings)).is_null());
}

TEST_F(ObjectDeletionTest, ANamespaceOfKubernetesStaysAndWhatTheUserHasInOneGoes) {
  EXPECT_EQ(text_of(apply(with("apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-public}\n", {{"adopt", true}}))),
            "");
  EXPECT_TRUE(text_of(destroy()).contains("it is a namespace of Kubernetes itself"));
  EXPECT_FALSE(get("/api/v1/namespaces/kube-public").is_null());
  state_ = {};
  private_ = {};
  EXPECT_EQ(text_of(apply(with("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: kube-system}\n"))), "");
  EXPECT_EQ(text_of(destroy()), "");
  EXPECT_TRUE(get("/api/v1/namespaces/kube-system/configmaps/a").is_null());
}

// Terraform deletes a CRD and its objects in one run, and the CRD may be gone first.
class OwnKind : public ObjectDeletionTest {
 protected:
  OwnKind() {
    request("POST", std::string(kDefinitions),
            R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
                "metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
                "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,
                "schema":{"openAPIV3Schema":{"type":"object"}}}]}})");
    pass(2s);
    EXPECT_EQ(text_of(apply(with("apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"))), "");
  }
  void delete_definition() {
    request("DELETE", std::string(kDefinitions) + "/widgets.example.com", "{}");
    pass(20s);
  }
  // As another process would.
  void forget_kinds() {
    connection_ = std::make_unique<TestConnection>(loop_, transport_);
    clusters_.use(*connection_);
  }
  // The group has a server of its own, which does not answer.
  void stop_server_of_group() {
    is_down_ = true;
    transport_.own_answer = [this](const http::Request& request) -> std::optional<std::string> {
      if (!is_down_ || request.target != "/apis") return std::nullopt;
      return R"({"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"example.com"},)"
             R"("versions":[{"version":"v1","freshness":"Stale"}]}]})";
    };
  }

  static constexpr std::string_view kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  bool is_down_ = false;
};

TEST_F(OwnKind, IsGoneWithItsDefinition) {
  delete_definition();
  forget_kinds();
  EXPECT_EQ(text_of(plan({}).diagnostics), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(OwnKind, IsGoneWithItsDefinitionSinceThePlan) {
  TestPlan planned = plan({});
  EXPECT_EQ(planned.action, "destroy");
  delete_definition();
  EXPECT_EQ(text_of(apply_plan(planned, {})), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(OwnKind, IsGoneForWhoeverDoesNotFindTheKindAnyMore) {
  TestPlan planned = plan({});
  delete_definition();
  forget_kinds();
  EXPECT_EQ(text_of(apply_plan(planned, {})), "");
  EXPECT_TRUE(state_.is_null());
}

TEST_F(OwnKind, StaysInTheStateWhileTheServerOfItsGroupDoesNotAnswer) {
  stop_server_of_group();
  forget_kinds();
  TestPlan planned = plan({});
  EXPECT_FALSE(state_.is_null());
  EXPECT_TRUE(text_of(planned.diagnostics).contains("example.com/v1 cannot be discovered"))
      << text_of(planned.diagnostics);
  std::string text = text_of(apply_plan(planned, {}));
  EXPECT_TRUE(text.starts_with("error: The object was not deleted (Widget default/w)")) << text;
  EXPECT_TRUE(text.contains("example.com/v1 cannot be discovered")) << text;
  EXPECT_FALSE(state_.is_null());
}

}  // namespace
}  // namespace fairlead::terraform

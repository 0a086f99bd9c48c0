#include "webhook/server/coordination.h"

#include "async/loop.h"
#include "sandbox/sandbox.h"
#include "webhook/server/server_testing.h"

namespace fairlead::webhook {
namespace {

using Kind = Route::Kind;
constexpr Kind kValidating = Kind::validating;
constexpr Kind kMutating = Kind::mutating;

class CoordinationTest : public testing::Test {
 protected:
  ~CoordinationTest() override {
    looking_.cancel();
    loop_.run(looking_.join());
    holding_.cancel();
    loop_.run(holding_.join());
    loop_.run(sandbox_.stop());
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_{loop_, {.controllers = false}};
  kube::Client client_{loop_, sandbox_.api_server(), nullptr, {}};
  lease::LocksOptions options_{.name = "lock"};
  lease::NamespaceLocks locks_{client_, options_};
  lease::Holder holder_{
      client_,
      {.ns = "default", .name = "lock", .identity = "pod-0_1", .settle = lease::NamespaceLocks::stale_after(options_)}};
  RestOfCluster rest_{locks_};
  OneNamespace one_{"default", holder_};
  Scope looking_{loop_, nullptr};
  Scope holding_{loop_, nullptr};
};

TEST_F(CoordinationTest, ANamespaceIsLeftToItsOwnOperator) {
  looking_.spawn(locks_.run());
  pass(1s);
  EXPECT_EQ(rest_.left_to(kValidating, "default"), std::nullopt);
  EXPECT_EQ(rest_.left_to(kMutating, "default"), std::nullopt);
  holding_.spawn(holder_.run());
  pass(1s);
  EXPECT_EQ(rest_.left_to(kValidating, "default"), "the operator of the namespace (pod-0_1)");
  EXPECT_EQ(rest_.left_to(kMutating, "default"), "the operator of the namespace (pod-0_1)");
  EXPECT_EQ(rest_.left_to(kValidating, "other"), std::nullopt);
  EXPECT_EQ(rest_.left_to(kValidating, ""), std::nullopt);
  // It changes nothing itself until everybody can know.
  EXPECT_EQ(one_.left_to(kMutating, "default"), "the operator that holds the Lease of the namespace");
  pass(20s);
  EXPECT_EQ(one_.left_to(kMutating, "default"), std::nullopt);
}

TEST_F(CoordinationTest, ARestrictedOperatorServesItsNamespaceAlone) {
  EXPECT_EQ(one_.left_to(kValidating, "default"), std::nullopt);
  EXPECT_EQ(one_.left_to(kValidating, "other"), "others: this operator serves namespace default alone");
  EXPECT_EQ(one_.left_to(kValidating, ""), "others: this operator serves namespace default alone");
}

TEST_F(CoordinationTest, WithoutAViewItValidatesAndChangesNothing) {
  EXPECT_EQ(rest_.left_to(kValidating, "default"), std::nullopt);
  EXPECT_EQ(rest_.left_to(kMutating, "default"), "the operator of the namespace");
}

TEST_F(CoordinationTest, IsInTheMetrics) {
  looking_.spawn(locks_.run());
  holding_.spawn(holder_.run());
  pass(20s);
  EXPECT_EQ(
      text_of(rest_.coordination()),
      "# HELP fairlead_webhook_namespaces_left Namespaces that are left to an operator of their own.\n"
      "# TYPE fairlead_webhook_namespaces_left gauge\nfairlead_webhook_namespaces_left 1\n"
      "# HELP fairlead_webhook_lease_view_stale 1 while it is not known which namespaces have their own operator.\n"
      "# TYPE fairlead_webhook_lease_view_stale gauge\nfairlead_webhook_lease_view_stale 0\n");
  EXPECT_EQ(text_of(one_.coordination()),
            "# HELP fairlead_webhook_lease_held 1 while this server holds the Lease of its namespace.\n"
            "# TYPE fairlead_webhook_lease_held gauge\nfairlead_webhook_lease_held 1\n");
  EXPECT_EQ(text_of(Coordination()), "");
}

TEST(LeaveTo, LetsAReviewThroughAndSaysWhoDecides) {
  Routes routes = Routes::make(widget_set()).value();
  for (std::string_view path : {kWidgets, kMutateWidgets}) {
    for (std::string_view what : {"deny", "fail", ""}) {
      Verdict verdict = decide(*routes.find(path), widget_review(what));
      leave_to("somebody else", verdict);
      EXPECT_EQ(verdict.status, 200);
      EXPECT_EQ(
          verdict.body,
          R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","allowed":true,)"
          R"("auditAnnotations":{"left-to":"somebody else"}}})");
      EXPECT_EQ(verdict.facts.decided, Decided::elsewhere);
      EXPECT_EQ(verdict.facts.cause, "left to somebody else");
      EXPECT_EQ(verdict.facts.ns, "team");
    }
  }
  Verdict broken = decide(*routes.find(kWidgets), "no review");
  leave_to("somebody else", broken);
  EXPECT_EQ(broken.status, 400);
}

}  // namespace
}  // namespace fairlead::webhook

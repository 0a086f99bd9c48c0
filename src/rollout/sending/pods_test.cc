// What pods tell about the workload that is waited for.
#include <algorithm>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

constexpr std::string_view kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web:1}]}
)";

// Nobody makes pods here but the test.
class PodsTest : public RolloutTest {
 protected:
  static sandbox::Options quiet() {
    sandbox::Options options;
    options.controllers = false;
    return options;
  }
  PodsTest() : RolloutTest(quiet()) {
    auto made = loop_.run(
        client_.request({.verb = "create",
                         .method = "POST",
                         .target = "/api/v1/namespaces/default/serviceaccounts",
                         .content_type = "application/json",
                         .body = R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})"}));
    EXPECT_TRUE(made) << made.error().error().report();
  }

  // A pod of the Deployment that waits, for a reason for which it can never start where none is given.
  Task<void> make_pod(std::string reason = "ErrImageNeverPull") {
    Json pod = *Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1-x","labels":{"app":"web"},
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"u","controller":true}]},
        "spec":{"nodeName":"node","containers":[{"name":"web","image":"web:1"}]}})");
    Json status = *Json::parse(R"({"status":{"containerStatuses":[{"name":"web","image":"web:1","imageID":"",
        "ready":false,"restartCount":0,"state":{"waiting":{"message":"no"}}}]}})");
    Json& container = (*status.make("status").make("containerStatuses").if_array())[0];
    container.make("state").make("waiting").make("reason") = reason;
    const object::Resource pods{
        .group = "", .version = "v1", .kind = "Pod", .plural = "pods", .singular = "", .namespaced = true};
    auto made = co_await client_.create(pods, "default", pod);
    EXPECT_TRUE(made) << made.error().error().report();
    EXPECT_TRUE(
        co_await client_.patch(pods, "default", "web-1-x", kube::PatchType::merge, status, {.subresource = "status"}));
  }
};

TEST_F(PodsTest, OneOfTheRunThatCanNeverStartEndsTheWait) {
  loop_.call_after(seconds(10), [this] { injector_.spawn(make_pod()); });
  Ending ending = apply(kDeployment);
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(ending.took, seconds(10));
  EXPECT_EQ(reports(ending),
            "error: Deployment default/web failed\n"
            "  because   its controller has not seen it yet\n"
            "  because   pod web-1-x is waiting: ErrImageNeverPull (web:1)\n"
            "  because   no\n"
            "  from      bundle.yaml:2\n"
            "  next      kubectl -n default describe pod web-1-x\n");
  loop_.run(injector_.join());
}

// Its webhook blocks an object, so that pods are looked at from the start.
constexpr std::string_view kGuard = R"(
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 443}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks:
- name: web.example.com
  clientConfig: {caBundle: QUFBQQ==, service: {name: web, namespace: default}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  objectSelector: {matchLabels: {guarded: 'yes'}}
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: guarded, labels: {guarded: 'yes'}}
)";

struct TroubleTest : PodsTest, testing::WithParamInterface<std::tuple<std::string, std::string, seconds>> {};
INSTANTIATE_TEST_SUITE_P(Reasons, TroubleTest,
                         testing::Values(std::tuple("ImagePullBackOff", "trouble", seconds(1)),
                                         std::tuple("ContainerCreating", "starting", seconds(3))));

TEST_P(TroubleTest, IsToldAtOnceUnlessItIsJustSlow) {
  auto [reason, state, told_after] = GetParam();
  loop_.call_after(seconds(1), [this, word = reason] { injector_.spawn(make_pod(word)); });
  Options options;
  options.timeout = seconds(20);
  EXPECT_EQ(apply(fmt::format("{}{}", kDeployment, kGuard), options).how, Ending::How::timed_out);
  auto told = std::ranges::find(events_, state, &journal::Event::state);
  ASSERT_NE(told, events_.end()) << events();
  EXPECT_EQ(std::chrono::floor<seconds>(told->at), told_after) << events();
  loop_.run(injector_.join());
}

// An object that a pod from before the run waits for may come with the run.
TEST_F(PodsTest, OneOfBeforeTheRunDoesNot) {
  loop_.run(make_pod());
  (void)loop_.run(sleep_for(loop_, seconds(5)));
  Options options;
  options.timeout = seconds(60);
  Ending ending = apply(kDeployment, options);
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_EQ(ending.took, seconds(60));
  EXPECT_NE(reports(ending).find("ErrImageNeverPull"), std::string::npos) << reports(ending);
}

// Pods are not looked at before 3 s: nothing is said about them then.
TEST_F(PodsTest, NothingIsSaidAboutPodsThatNobodyLookedAt) {
  loop_.run(make_pod());
  Options options;
  options.timeout = seconds(2);
  EXPECT_EQ(reports(apply(kDeployment, options)),
            "error: Deployment default/web is not ready after 2s\n"
            "  because   its controller has not seen it yet\n"
            "  from      bundle.yaml:2\n"
            "  next      kubectl -n default describe Deployment web\n");
}

}  // namespace
}  // namespace fairlead::rollout

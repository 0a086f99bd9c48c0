// What pods tell about the workload that is waited for.
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

  // A pod of the Deployment that can never start.
  Task<void> make_pod() {
    Json pod = *Json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1-x","labels":{"app":"web"},
        "ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"u","controller":true}]},
        "spec":{"nodeName":"node","containers":[{"name":"web","image":"web:1"}]}})");
    Json status = *Json::parse(R"({"status":{"containerStatuses":[{"name":"web","image":"web:1","imageID":"",
        "ready":false,"restartCount":0,"state":{"waiting":{"reason":"ErrImageNeverPull","message":"no"}}}]}})");
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

// What one of before the run waits for may come with the run.
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

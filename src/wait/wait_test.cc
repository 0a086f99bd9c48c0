#include "wait/wait.h"

#include "wait/wait_testing.h"

namespace fairlead::wait {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

std::string map_named(std::string_view name, std::string_view labels = "{}") {
  return fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}}}})", name, labels);
}

std::string deployment(std::string_view image) {
  return fmt::format(R"({{"metadata":{{"name":"web"}},"spec":{{"selector":{{"matchLabels":{{"app":"web"}}}},
    "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"{}"}}]}}}}}}}})",
                     image);
}

TEST_F(WaitTest, AnObjectThatComesLate) {
  send("POST", kMaps, map_named("late"), 85s);
  Ending ending = wait({"configmap/late"});
  EXPECT_EQ(shown(ending), "done\nConfigMap default/late met: it is stored, and there is nothing else to wait for\n");
  EXPECT_EQ(ending.objects.front().took, 85s);
  // The watch tells it; nobody polls.
  EXPECT_LT(ending.requests, 10u);
  EXPECT_EQ(std::ranges::count(events_, journal::EventKind::waiting, &journal::Event::kind), 2);
}

TEST_F(WaitTest, AnObjectThatNeverComes) {
  EXPECT_EQ(shown(wait({"cm/nope"}, "create", {.existence_timeout = 1min})), R"(timed out
ConfigMap default/nope timed out: it does not exist yet
error: ConfigMap default/nope does not exist after 1m
  because   it does not exist yet
  next      kubectl -n default get configmaps
)");
}

TEST_F(WaitTest, AKindThatComesLate) {
  std::string definition =
      R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets","singular":"widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition, 20s);
  send("POST", "/apis/example.com/v1/namespaces/default/widgets",
       R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}})", 40s);
  EXPECT_EQ(shown(wait({"crd/widgets.example.com", "widget/a"})), R"(done
CustomResourceDefinition widgets.example.com met: it is established and served
Widget default/a met: it is stored, and there is nothing else to wait for
)");
  EXPECT_EQ(shown(wait({"gadgets.example.com/a"}, "ready", {.existence_timeout = 10s})), R"(timed out
gadgets.example.com a timed out: the cluster serves no kind "gadgets.example.com"
error: gadgets.example.com a does not exist after 10s
  because   the cluster serves no kind "gadgets.example.com"
  next      kubectl api-resources
)");
  EXPECT_EQ(shown(wait({"gadgets.example.com/a"}, "delete")),
            "done\ngadgets.example.com a met: its kind does not exist\n");
}

TEST_F(WaitTest, ADeploymentBecomesReady) {
  send("POST", kDeployments, deployment("web:1"));
  for (std::string_view form : {"ready", "rollout", "condition=available"})
    EXPECT_EQ(wait({"deploy/web"}, form).how, Ending::How::done) << form;
  EXPECT_EQ(shown(wait({"configmap/x"}, "rollout", {.existence_timeout = 1s})), R"(failed
ConfigMap default/x failed: 
error: --for rollout cannot be used for configmap/x
  because   it is for Deployments, StatefulSets, DaemonSets and ReplicaSets only
  next      fairlead wait configmap/x --for ready
)");
}

TEST_F(WaitTest, APodThatDoesNotStartIsTheCause) {
  std::string failing = deployment("web:1");
  constexpr std::string_view kLabels = R"("labels":{"app":"web"}},"spec":{"containers")";
  failing.replace(
      failing.find(kLabels), kLabels.size(),
      R"("labels":{"app":"web"},"annotations":{"sandbox.fairlead.dev/fail":"image-pull"}},"spec":{"containers")");
  send("POST", kDeployments, failing);
  Ending ending = wait({"deployment/web"}, "ready", {.timeout = 1min});
  std::string report = ending.causes.front().error.report();
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  EXPECT_TRUE(report.starts_with("error: Deployment default/web is not ready after 1m\n")) << report;
  EXPECT_TRUE(report.contains("ImagePullBackOff")) << report;
  EXPECT_TRUE(report.contains("  next      kubectl -n default describe pod web-")) << report;
}

TEST_F(WaitTest, AFailedJobFailsAtOnce) {
  send("POST", kJobs, R"({"metadata":{"name":"x"},"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never",
    "containers":[{"name":"x","image":"x"}]}}}})");
  send("PATCH", std::string(kJobs) + "/x/status",
       R"({"status":{"conditions":[{"type":"FailureTarget","status":"True"},
          {"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"too often"}],
          "startTime":"2030-01-01T00:00:00Z"}})",
       5s);
  Ending ending = wait({"job/x", "configmap/nope"}, "condition=Complete");
  EXPECT_EQ(shown(ending), R"(failed
Job default/x failed: Job failed: BackoffLimitExceeded: too often
ConfigMap default/nope waiting: it does not exist yet
error: Job default/x does not meet condition=Complete
  because   Job failed: BackoffLimitExceeded: too often
  next      kubectl -n default describe jobs.batch x
)");
  EXPECT_EQ(ending.took, 5s);
  EXPECT_EQ(wait({"job/x"}, "condition=failed").how, Ending::How::done);
}

TEST_F(WaitTest, Fields) {
  send("POST", kMaps, R"({"metadata":{"name":"x"},"data":{"a":""}})");
  send("PATCH", std::string(kMaps) + "/x", R"({"data":{"a":"1"}})", 10s);
  EXPECT_EQ(shown(wait({"configmap/x"}, "field=data.a")), "done\nConfigMap default/x met: data.a is there\n");
  EXPECT_EQ(shown(wait({"configmap/x"}, "jsonpath={.data.a}=2", {.timeout = 0s})), R"(timed out
ConfigMap default/x timed out: {.data.a} is 1, not 2 yet
error: ConfigMap default/x does not meet jsonpath={.data.a}=2
  because   {.data.a} is 1, not 2 yet
  next      kubectl -n default describe configmaps x
)");
}

TEST_F(WaitTest, Deletion) {
  send("POST", kMaps, R"({"metadata":{"name":"x","finalizers":["example.com/keep"]}})");
  EXPECT_EQ(shown(wait({"configmap/x"}, "delete", {.timeout = 5s})), R"(timed out
ConfigMap default/x timed out: nobody has deleted it yet
error: ConfigMap default/x still exists after 5s
  because   nobody has deleted it yet
  next      kubectl -n default describe configmaps x
)");
  send("DELETE", std::string(kMaps) + "/x");
  EXPECT_EQ(wait({"configmap/x"}, "delete", {.timeout = 5s}).objects.front().reason,
            "it is being deleted, and waits for its finalizers: example.com/keep");
  send("PATCH", std::string(kMaps) + "/x", R"({"metadata":{"finalizers":null}})", 10s);
  EXPECT_EQ(shown(wait({"configmap/x", "configmap/never-was"}, "delete")),
            "done\nConfigMap default/x met: it does not exist\nConfigMap default/never-was met: it does not exist\n");
}

TEST_F(WaitTest, AnotherObjectUnderTheNameIsNotWaitedFor) {
  send("POST", kMaps, R"({"metadata":{"name":"x","finalizers":["example.com/keep"]}})");
  send("DELETE", std::string(kMaps) + "/x");
  send("PATCH", std::string(kMaps) + "/x", R"({"metadata":{"finalizers":null}})", 10s);
  send("POST", kMaps, map_named("x"), 10s);
  EXPECT_EQ(wait({"configmap/x"}, "delete", {.timeout = 60s}).how, Ending::How::done);
}

TEST_F(WaitTest, WhatComesLaterDoesNotHaveToBeDeleted) {
  Selection app{.selector = "app=a"};
  send("POST", kMaps, map_named("one", R"({"app":"a"})"));
  send("POST", kMaps, map_named("two", R"({"app":"a"})"), 5s);
  send("DELETE", std::string(kMaps) + "/one", "", 10s);
  EXPECT_EQ(shown(wait({"cm"}, "delete", {.timeout = 60s}, app)),
            "done\nConfigMap default/one met: it does not exist\n");
}

TEST_F(WaitTest, Selectors) {
  Selection app{.selector = "app=a"};
  EXPECT_EQ(shown(wait({"cm"}, "ready", {.existence_timeout = 3s}, app)),
            "timed out\nerror: nothing matches cm -l app=a\n  next      kubectl get cm\n");
  EXPECT_EQ(shown(wait({"cm"}, "delete", {}, app)), "done\n");
  send("POST", kMaps, map_named("one", R"({"app":"a"})"), 5s);
  send("POST", kMaps, map_named("other"), 5s);
  EXPECT_EQ(shown(wait({"cm"}, "create", {}, app)), "done\nConfigMap default/one met: it exists\n");
  send("DELETE", std::string(kMaps) + "/one", "", 5s);
  EXPECT_EQ(shown(wait({"cm,secrets"}, "delete", {}, app)), "done\nConfigMap default/one met: it does not exist\n");
  Ending all = wait({"cm"}, "field=data.x", {.timeout = 1s, .all_namespaces = true}, {.all = true});
  EXPECT_EQ(all.how, Ending::How::timed_out) << shown(all);
  EXPECT_GE(all.objects.size(), 2u);
}

TEST_F(WaitTest, OneIsEnough) {
  send("POST", kMaps, map_named("b"), 5s);
  Ending ending = wait({"cm/a", "cm/b"}, "create", {.any = true});
  EXPECT_EQ(shown(ending),
            "done\nConfigMap default/a waiting: it does not exist yet\nConfigMap default/b met: it exists\n");
  EXPECT_EQ(wait({"cm/c", "cm/d"}, "create", {.any = true, .existence_timeout = 5s}).how, Ending::How::timed_out);
}

TEST_F(WaitTest, ManyObjectsShareAWatch) {
  std::vector<std::string> words;
  for (int i = 0; i < 50; ++i) {
    words.push_back(fmt::format("configmap/map-{}", i));
    send("POST", kMaps, map_named(fmt::format("map-{}", i)), 1s);
  }
  Ending ending = wait(words);
  EXPECT_EQ(ending.how, Ending::How::done) << shown(ending);
  EXPECT_LT(ending.requests, 10u + 50u);  // those 50 create the objects
}

TEST_F(WaitTest, AnInterruption) {
  auto timer = loop_.call_after(7s, [this] { stop_.cancel(); });
  EXPECT_EQ(shown(wait({"configmap/nope"})), "interrupted\nConfigMap default/nope waiting: it does not exist yet\n");
  loop_.cancel_timer(timer);
}

// Refuses some requests with a 403.
class Forbidding final : public http::Transport {
 public:
  Forbidding(sandbox::Sandbox& sandbox, std::string part) : sandbox_(sandbox), part_(std::move(part)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (!request.target.contains(part_)) co_return co_await sandbox_.api_server().open(std::move(request));
    co_return http::Answer{
        403,
        {{"Content-Type", "application/json"}},
        http::body_of(R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,
      "message":"configmaps \"x\" is forbidden: User \"ann\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"default\"",
      "details":{"name":"x","kind":"configmaps"}})"),
        1};
  }

 private:
  sandbox::Sandbox& sandbox_;
  std::string part_;
};

TEST_F(WaitTest, AMissingRightFailsAtOnce) {
  Forbidding network(sandbox_, "/configmaps");
  kube::Client client(loop_, network, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending =
      loop_.run(wait_for(client, discovery, read_targets({"configmap/x"}, {}).value(), {}, journal_, nullptr));
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(ending.took, 0s);
  std::string report = ending.causes.front().error.report();
  EXPECT_TRUE(report.starts_with("error: ConfigMap default/x cannot be seen\n")) << report;
  EXPECT_TRUE(report.contains("cannot get")) << report;
  EXPECT_TRUE(report.contains("kubectl auth can-i get configmaps")) << report;
}

}  // namespace
}  // namespace fairlead::wait

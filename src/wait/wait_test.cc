#include "wait/wait.h"

#include "wait/wait_testing.h"

namespace fairlead::wait {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";
constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";

constexpr const char* kWidgets =
    R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets","singular":"widget","listKind":"WidgetList"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";

std::string map_named(std::string_view name, std::string_view labels = "{}") {
  return fmt::format(R"({{"metadata":{{"name":"{}","labels":{}}}}})", name, labels);
}

std::string deployment(std::string_view image) {
  return fmt::format(R"({{"metadata":{{"name":"web"}},"spec":{{"selector":{{"matchLabels":{{"app":"web"}}}},
    "template":{{"metadata":{{"labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"web","image":"{}"}}]}}}}}}}})",
                     image);
}

// A Job that no controller touches.
std::string suspended_job(std::string_view name) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}"}},"spec":{{"suspend":true,"template":{{"spec":{{"restartPolicy":"Never",
    "containers":[{{"name":"x","image":"x"}}]}}}}}}}})",
      name);
}
// Its status once it has failed.
std::string failed_for_good(std::string_view reason, std::string_view message) {
  return fmt::format(R"({{"status":{{"conditions":[{{"type":"FailureTarget","status":"True"}},
    {{"type":"Failed","status":"True","reason":"{}","message":"{}"}}],"startTime":"2030-01-01T00:00:00Z"}}}})",
                     reason, message);
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

TEST_F(WaitTest, AnObjectThatComesLateHasAllOfItsTime) {
  send("POST", kMaps, map_named("late"), 80s);
  send("PATCH", std::string(kMaps) + "/late", R"({"data":{"a":"1"}})", 130s);
  Ending ending = wait({"cm/late"}, "field=data.a", {.existence_timeout = 5min, .timeout = 60s});
  EXPECT_EQ(shown(ending), "done\nConfigMap default/late met: data.a is there\n");
  send("POST", kMaps, map_named("later"), 80s);
  EXPECT_EQ(wait({"cm/later"}, "field=data.a", {.existence_timeout = 5min, .timeout = 60s}).took, 140s);
}

TEST_F(WaitTest, AnObjectThatNeverComes) {
  EXPECT_EQ(shown(wait({"cm/nope"}, "create", {.existence_timeout = 1min})), R"(timed out
ConfigMap default/nope timed out: it does not exist yet
error: ConfigMap default/nope does not exist after 1m
  next      kubectl -n default get configmaps
)");
}

TEST_F(WaitTest, AKindThatComesLate) {
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kWidgets, 20s);
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

// Says of an API group for some time that there is no such path.
class LateApi final : public http::Transport {
 public:
  LateApi(sandbox::Sandbox& sandbox, Loop& loop, TimePoint from) : sandbox_(sandbox), loop_(loop), from_(from) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (loop_.now() >= from_ || !request.target.starts_with("/apis/example.com"))
      co_return co_await sandbox_.api_server().open(std::move(request));
    co_return http::Answer{.status = 404,
                           .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                           .body = http::body_of("404 page not found\n")};
  }

 private:
  sandbox::Sandbox& sandbox_;
  Loop& loop_;
  TimePoint from_;
};

TEST_F(WaitTest, ADefinitionIsReadyOnceItsApiIsServed) {
  send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", kWidgets);
  LateApi network(sandbox_, loop_, loop_.now() + 15s);
  kube::Client client(loop_, network, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending = loop_.run(
      wait_for(client, discovery, read_targets({"crd/widgets.example.com"}, {}).value(), {}, journal_, nullptr));
  EXPECT_EQ(shown(ending), "done\nCustomResourceDefinition widgets.example.com met: it is established and served\n");
  EXPECT_GE(ending.took, 15s);
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
  send("POST", kJobs, suspended_job("x"));
  send("PATCH", std::string(kJobs) + "/x/status", failed_for_good("BackoffLimitExceeded", "too often"), 5s);
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

TEST_F(WaitTest, WithAnyOneThatFailsDoesNotEndTheWait) {
  send("POST", kJobs, suspended_job("x"));
  send("PATCH", std::string(kJobs) + "/x/status", failed_for_good("BackoffLimitExceeded", "too often"), 5s);
  send("POST", kMaps, map_named("late"), 20s);
  Ending ending = wait({"job/x", "configmap/late"}, "condition=Complete", {.any = true, .existence_timeout = 10s});
  EXPECT_EQ(shown(ending), R"(failed
Job default/x failed: Job failed: BackoffLimitExceeded: too often
ConfigMap default/late timed out: it does not exist yet
error: Job default/x does not meet condition=Complete
  because   Job failed: BackoffLimitExceeded: too often
  next      kubectl -n default describe jobs.batch x
error: ConfigMap default/late does not exist after 10s
  next      kubectl -n default get configmaps
)");
  EXPECT_EQ(ending.took, 10s);
  ending = wait({"job/x", "configmap/late"}, "ready", {.any = true});
  EXPECT_EQ(shown(ending), R"(done
Job default/x failed: Job failed: BackoffLimitExceeded: too often
ConfigMap default/late met: it is stored, and there is nothing else to wait for
)");
}

TEST_F(WaitTest, WithAnyOneOfAKindThatFailsDoesNotEndTheWait) {
  send("POST", kJobs, suspended_job("x"));
  send("POST", kJobs, suspended_job("y"));
  send("PATCH", std::string(kJobs) + "/x/status", failed_for_good("BackoffLimitExceeded", "too often"), 5s);
  send("PATCH", std::string(kJobs) + "/y", R"({"spec":{"suspend":false}})", 10s);
  Ending ending = wait({"jobs"}, "jsonpath={.spec.suspend}=false", {.any = true}, {.all = true});
  EXPECT_EQ(ending.how, Ending::How::done) << shown(ending);
  EXPECT_EQ(ending.took, 10s);
}

TEST_F(WaitTest, WithAnyOneOfAKindIsEnough) {
  for (std::string_view name : {"one", "two"}) send("POST", kMaps, map_named(name, R"({"app":"a"})"));
  send("PATCH", std::string(kMaps) + "/two", R"({"data":{"x":"1"}})", 5s);
  Ending ending = wait({"cm"}, "field=data.x", {.any = true}, {.selector = "app=a"});
  EXPECT_EQ(shown(ending), R"(done
ConfigMap default/one waiting: data.x is not there yet
ConfigMap default/two met: data.x is there
)");
  EXPECT_EQ(ending.took, 5s);
}

TEST_F(WaitTest, SecretsAreInNoResult) {
  journal_.hide("hunter2-hunter2");
  send("POST", kJobs, suspended_job("x"));
  send("PATCH", std::string(kJobs) + "/x/status", failed_for_good("Login", "the password hunter2-hunter2 is wrong"),
       5s);
  Ending ending = wait({"job/x"}, "condition=Complete");
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_FALSE(shown(ending).contains("hunter2")) << shown(ending);
  EXPECT_FALSE(events().contains("hunter2")) << events();
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

TEST_F(WaitTest, WhatIsDeletedMeanwhileIsNoLongerWaitedFor) {
  Selection app{.selector = "app=a"};
  send("POST", kMaps, map_named("old", R"({"app":"a"})"));
  send("POST", kMaps, map_named("new", R"({"app":"a"})"), 5s);
  send("PATCH", std::string(kMaps) + "/new", R"({"data":{"a":"1"}})", 10s);
  send("DELETE", std::string(kMaps) + "/old", "", 20s);
  Ending ending = wait({"cm"}, "field=data.a", {.timeout = 60s}, app);
  EXPECT_EQ(shown(ending), "done\nConfigMap default/new met: data.a is there\n");
  EXPECT_EQ(ending.took, 20s);
}

TEST_F(WaitTest, Selectors) {
  Selection app{.selector = "app=a"};
  EXPECT_EQ(shown(wait({"cm"}, "ready", {.existence_timeout = 3s}, app)),
            "timed out\nerror: nothing matches cm -l app=a\n  next      kubectl -n default get cm -l 'app=a'\n");
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

TEST_F(WaitTest, ProgressCountsTheObjectsThatASelectorChooses) {
  for (std::string_view name : {"one", "two"}) send("POST", kMaps, map_named(name, R"({"app":"a"})"));
  send("PATCH", std::string(kMaps) + "/one", R"({"data":{"x":"1"}})");
  send("PATCH", std::string(kMaps) + "/two", R"({"data":{"x":"1"}})", 40s);
  EXPECT_EQ(wait({"cm"}, "field=data.x", {}, {.selector = "app=a"}).how, Ending::How::done);
  auto waiting = std::ranges::find(events_, journal::EventKind::waiting, &journal::Event::kind);
  ASSERT_NE(waiting, events_.end());
  EXPECT_EQ(waiting->details, *Json::parse(R"({"met":1,"objects":2})"));
  EXPECT_FALSE(events_.front().details.contains("objects")) << "it is not known how many there will be";
}

TEST_F(WaitTest, ProgressNamesWhatIsWaitedFor) {
  // The time is over when the next line is due, and nothing is waited for any more.
  wait({"cm"}, "ready", {.existence_timeout = 60s}, {.selector = "app=a"});
  std::vector<std::string> lines;
  for (const journal::Event& event : events_)
    if (event.kind == journal::EventKind::waiting) lines.push_back(event.text);
  ASSERT_FALSE(lines.empty());
  for (const std::string& line : lines) EXPECT_EQ(line, "cm -l app=a (nothing matches yet)");
}

TEST_F(WaitTest, ObjectsWhoseTimeIsOverTogetherTimeOutTogether) {
  for (std::string_view name : {"one", "two", "three"}) send("POST", kMaps, map_named(name));
  Ending ending = wait({"cm/one", "cm/two", "cm/three"}, "delete", {.timeout = 1s});
  for (const ObjectEnding& object : ending.objects)
    EXPECT_EQ(object.state, ObjectEnding::State::timed_out) << object.key.text();
  EXPECT_EQ(ending.causes.size(), 3u);
}

TEST_F(WaitTest, ObjectsThatWereSeenAMomentApartTimeOutTogether) {
  send("POST", kMaps, map_named("one"));
  send("POST", kMaps, map_named("two"), 50ms);
  send("POST", kMaps, map_named("three"), 500ms);
  Ending ending = wait({"cm/one", "cm/two", "cm/three"}, "field=data.x", {.timeout = 1s});
  ASSERT_EQ(ending.objects.size(), 3u);
  EXPECT_EQ(ending.objects[0].state, ObjectEnding::State::timed_out);
  EXPECT_EQ(ending.objects[1].state, ObjectEnding::State::timed_out);
  EXPECT_EQ(ending.objects[2].state, ObjectEnding::State::waiting) << "it had half of its time";
}

TEST(Check, WhatTheFormOrTheProbeDoesNotFit) {
  auto error_of = [](std::string_view word, std::string_view form, bool has_probe) {
    Options options{.form = Form::parse(form).value()};
    if (has_probe)
      options.probe =
          object::Object::from(Json::parse(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}})").value())
              .value();
    Result<void> checked = check(read_targets({std::string(word)}, {}).value(), options);
    return checked ? "" : checked.error().what();
  };
  for (std::string_view form : {"create", "delete", "condition=Ready", "field=spec"})
    EXPECT_EQ(error_of("webhook/x", form, false), fmt::format("--for {} cannot be used for webhook/x", form));
  EXPECT_EQ(error_of("webhook/x", "ready", true), "");
  EXPECT_EQ(error_of("ValidatingWebhookConfiguration/x", "functional", true), "");
  EXPECT_EQ(error_of("deploy/x", "ready", false), "");
  EXPECT_EQ(error_of("deploy/x", "ready", true), "--probe-with is for webhooks, and none is waited for");
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

// Answers some requests with a 500, or never.
class Failing final : public http::Transport {
 public:
  Failing(Loop& loop, sandbox::Sandbox& sandbox, std::string part, bool is_silent)
      : sandbox_(sandbox), part_(std::move(part)), is_silent_(is_silent), never_(loop) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (!request.target.contains(part_)) co_return co_await sandbox_.api_server().open(std::move(request));
    if (is_silent_) CO_TRY(co_await never_.wait());
    co_return http::Answer{500,
                           {{"Content-Type", "application/json"}},
                           http::body_of(R"({"kind":"Status","apiVersion":"v1","status":"Failure","code":500,
      "message":"the storage is broken"})"),
                           1};
  }

 private:
  sandbox::Sandbox& sandbox_;
  std::string part_;
  bool is_silent_;
  Signal never_;
};

TEST_F(WaitTest, AServerThatDoesNotAnswerEndsWithTheTimeout) {
  for (auto [part, word, selector] : {std::tuple("/deployments", "deploy/x", ""),
                                      {"/deployments", "deploy", "app=x"},
                                      {"webhookconfigurations", "webhook/x", ""},
                                      {"webhookconfigurations", "validatingwebhookconfiguration/x", ""},
                                      {"/api", "deploy/x", ""}})
    for (bool is_silent : {true, false}) {
      SCOPED_TRACE(fmt::format("{} {} {}", part, word, is_silent ? "silent" : "500"));
      bool is_discovery = std::string_view(part) == "/api";
      // Without discovery there is nothing to wait for.
      if (is_discovery && !is_silent) continue;
      Failing network(loop_, sandbox_, part, is_silent);
      kube::Client client(loop_, network, nullptr, {});
      kube::Discovery discovery(client);
      Options options{.timeout = 2s, .allow_short = true};
      Ending ending = loop_.run(wait_for(client, discovery, read_targets({word}, {.selector = selector}).value(),
                                         options, journal_, nullptr));
      EXPECT_EQ(ending.how, Ending::How::timed_out) << shown(ending);
      EXPECT_LE(ending.took, 4s);
      ASSERT_EQ(ending.causes.size(), 1u);
      std::string report = ending.causes.front().error.report();
      EXPECT_TRUE(report.contains(" could not be read within ")) << report;
      EXPECT_TRUE(report.contains(is_silent ? "the API server does not answer" : "the storage is broken")) << report;
      EXPECT_TRUE(report.contains("  next      kubectl get --raw /readyz?verbose")) << report;
    }
}

TEST_F(WaitTest, AServerThatStopsAnsweringIsNamed) {
  (void)loop_.call_after(2s, [this] { sandbox_.set_down(0, true); });
  Ending ending = wait({"cm/late"}, "create", {.timeout = 10s});
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  ASSERT_EQ(ending.causes.size(), 1u);
  std::string report = ending.causes.front().error.report();
  EXPECT_TRUE(
      report.starts_with("error: ConfigMap default/late does not exist after 10s\n"
                         "  because   the API server has stopped answering\n"))
      << report;
  EXPECT_TRUE(report.ends_with("  next      kubectl get --raw /readyz?verbose\n")) << report;
}

TEST_F(WaitTest, AServerThatDoesNotAnswerIsLookedAtOnceWithoutTime) {
  Failing network(loop_, sandbox_, "/configmaps", true);
  kube::Client client(loop_, network, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending =
      loop_.run(wait_for(client, discovery, read_targets({"cm/x"}, {}).value(), {.timeout = 0s}, journal_, nullptr));
  EXPECT_EQ(ending.how, Ending::How::timed_out) << shown(ending);
  EXPECT_LE(ending.took, 15s);
}

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

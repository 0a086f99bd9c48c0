// What a run does when a request beside the apply itself is refused or not answered: the GET and DELETE before an
// object is created again, a takeover, pruning, and watches of objects outside the bundle.
#include <gmock/gmock.h>

#include "kube/interceptor_testing.h"
#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;

class MishapsTest : public RolloutTest {
 protected:
  Ending apply_over_network(std::string_view yaml, Options options = {}, CancelSource* stop = nullptr) {
    options.run = "run" + std::to_string(++runs_);
    events_.clear();
    return apply_through(network_, yaml, std::move(options), stop);
  }
  static bool is(const http::Request& request, std::string_view method, std::string_view path) {
    return request.method == method && request.target.contains(path);
  }
  std::vector<std::string> texts(EventKind kind) const {
    std::vector<std::string> all;
    for (const journal::Event& event : events_)
      if (event.kind == kind) all.push_back(event.text);
    return all;
  }
  std::string uid(const std::string& target) { return std::string(get(target)["metadata"]["uid"].string_or("")); }

  kube::Interceptor network_{sandbox_.api_server()};
};

std::string job(std::string_view image, std::string_view annotation = "fairlead.dev/on-immutable: recreate") {
  return fmt::format(
      "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, annotations: {{{}}}}}\n"
      "spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: x, image: {}}}]}}}}}}\n",
      annotation, image);
}
const std::string kJob = "/apis/batch/v1/namespaces/default/jobs/j";

constexpr std::string_view kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: '1'}\n";
const object::Resource kConfigMaps{
    .group = "", .version = "v1", .kind = "ConfigMap", .plural = "configmaps", .singular = "", .namespaced = true};

TEST_F(MishapsTest, WhatMayNotBeDeletedIsNotCreatedAgain) {
  ASSERT_EQ(apply(job("one")).how, Ending::How::done);
  std::string before = uid(kJob);
  for (std::string_view method : {"DELETE", "GET"}) {
    network_.forbids = [&](const http::Request& request) { return is(request, method, "/jobs/j"); };
    Ending ending = apply_over_network(job("two"));
    EXPECT_EQ(ending.how, Ending::How::failed) << method << events();
    EXPECT_EQ(states(ending), "Job default/j refused (not ready)\n") << method;
    EXPECT_THAT(reports(ending), HasSubstr("may not")) << method;
    EXPECT_LT(ending.took, seconds(30)) << method;
  }
  EXPECT_EQ(uid(kJob), before);
}

TEST_F(MishapsTest, ADeletionThatIsNotAnsweredIsSentAgainBeforeTheObjectIsCreated) {
  ASSERT_EQ(apply(job("one")).how, Ending::How::done);
  std::string before = uid(kJob);
  int deletes = 0, gets = 0;
  network_.fails = [&](const http::Request& request) {
    return (is(request, "DELETE", "/jobs/j") && ++deletes <= 12) || (is(request, "GET", "/jobs/j") && ++gets <= 12);
  };
  Ending ending = apply_over_network(job("two"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(uid(kJob), before);
}

TEST_F(MishapsTest, WhatIsBeingDeletedIsNotGoneBecauseItCannotBeRead) {
  const std::string path = "/api/v1/namespaces/default/configmaps/x";
  std::string_view held = R"({"metadata":{"name":"x","finalizers":["acme.dev/slow"]},"data":{"a":"1"}})";
  ASSERT_TRUE(loop_.run(client_.create(kConfigMaps, "default", *Json::parse(held))));
  ASSERT_TRUE(loop_.run(client_.request({.method = "DELETE", .target = path})));
  std::string before = uid(path);
  TimePoint begun = loop_.now();
  loop_.call_after(seconds(40), [&] {
    injector_.spawn([](MishapsTest& test, std::string target) -> Task<void> {
      EXPECT_TRUE(co_await test.client().request({.method = "PATCH",
                                                  .target = std::move(target),
                                                  .content_type = "application/merge-patch+json",
                                                  .body = R"({"metadata":{"finalizers":null}})"}));
    }(*this, path));
  });
  int applies = 0;
  network_.fails = [&](const http::Request& request) {
    if (is(request, "PATCH", "/configmaps/x")) ++applies;
    return is(request, "GET", "/configmaps/x") && loop_.now() - begun < seconds(30);
  };
  Ending ending = apply_over_network(kMap);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(uid(path), before);
  // One that finds the former object, and one that creates it.
  EXPECT_EQ(applies, 2) << events();
}

TEST_F(MishapsTest, AnObjectThatSomebodyReplacedIsNotDeletedForItsFormerFields) {
  ASSERT_EQ(apply(job("one")).how, Ending::How::done);
  std::string replaced;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (!is(request, "DELETE", "/jobs/j") || !replaced.empty()) co_return;
    (void)co_await client_.request({.method = "DELETE", .target = kJob + "?propagationPolicy=Background"});
    (void)co_await sleep_for(loop_, seconds(5));
    const object::Resource jobs{
        .group = "batch", .version = "v1", .kind = "Job", .plural = "jobs", .singular = "", .namespaced = true};
    auto made = co_await client_.create(jobs, "default", bundle_of(job("two")).objects[0].value());
    EXPECT_TRUE(made);
    if (made) replaced = made->value["metadata"]["uid"].string_or("");
  };
  Ending ending = apply_over_network(job("two"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(uid(kJob), replaced);
}

TEST_F(MishapsTest, AHookWhoseFormerObjectMayNotBeReadOrDeletedIsRefused) {
  std::string hook = job("one", "helm.sh/hook: pre-install");
  ASSERT_EQ(apply(hook).how, Ending::How::done) << events();
  std::string before = uid(kJob);
  for (std::string_view method : {"DELETE", "GET"}) {
    network_.forbids = [&](const http::Request& request) { return is(request, method, "/jobs/j"); };
    Ending ending = apply_over_network(hook);
    EXPECT_EQ(ending.how, Ending::How::failed) << method << events();
    EXPECT_THAT(reports(ending), HasSubstr("may not")) << method;
  }
  EXPECT_EQ(uid(kJob), before);
}

TEST_F(MishapsTest, ATakeoverThatIsRefusedIsAnError) {
  ASSERT_TRUE(loop_.run(client_.create(
      kConfigMaps, "default",
      *Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","b":"1"}})"),
      {.field_manager = "kubectl-client-side-apply"})));
  network_.forbids = [](const http::Request& request) { return request.body.contains("/metadata/managedFields"); };
  Options options;
  options.name = "shop";
  Ending ending = apply_over_network(kMap, options);
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_EQ(states(ending), "ConfigMap default/x refused (not ready)\n");
  EXPECT_THAT(reports(ending), HasSubstr("may not"));
}

// Who owns the fields decides what becomes of a conflict, so that it has to be known.
TEST_F(MishapsTest, AConflictIsDecidedOnceTheObjectCanBeRead) {
  ASSERT_TRUE(loop_.run(
      client_.create(kConfigMaps, "default",
                     *Json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"0"}})"),
                     {.field_manager = "former"})));
  ASSERT_TRUE(loop_.run(client_.patch(
      kConfigMaps, "default", "x", kube::PatchType::merge,
      *Json::parse(
          R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"data":{"a":"2"}})"),
      {.field_manager = "former"})));
  TimePoint begun = loop_.now();
  network_.fails = [&](const http::Request& request) {
    return is(request, "GET", "/configmaps/x") && loop_.now() - begun < seconds(20);
  };
  Ending ending = apply_over_network(kMap);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_GT(ending.took, seconds(19));
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/x")["data"]["a"].string_or(""), "1");
}

TEST_F(MishapsTest, AServerThatIsBusyForAWhileIsAskedForTheMembersAgain) {
  Options options;
  options.name = "shop";
  ASSERT_EQ(apply(kMap, options).how, Ending::How::done);
  TimePoint begun = loop_.now();
  network_.answers = [&](const http::Request& request) -> std::optional<http::Answer> {
    if (!is(request, "GET", "labelSelector=applyset") || loop_.now() - begun >= seconds(8)) return std::nullopt;
    return kube::refusal(503, "ServiceUnavailable", "busy");
  };
  Ending ending = apply_over_network(kMap, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), "ConfigMap default/x unchanged\n");
  EXPECT_GT(ending.took, seconds(7));
}

TEST_F(MishapsTest, NoMoreRequestsThanAllowedAreUnderWay) {
  int under_way = 0, most = 0;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (!is(request, "PATCH", "/configmaps/")) co_return;
    most = std::max(most, ++under_way);
    (void)co_await sleep_for(loop_, seconds(1));
    --under_way;
  };
  std::string yaml;
  for (int i = 0; i < 10; ++i)
    yaml += fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{}}}\n", i);
  Options options;
  options.concurrency = 3;
  EXPECT_EQ(apply_over_network(yaml, options).how, Ending::How::done) << events();
  EXPECT_EQ(most, 3);
}

TEST_F(MishapsTest, WhatTheServerWarnsOfIsTold) {
  network_.after = [](http::Answer& answer) {
    if (answer.status == 201) answer.headers.set("Warning", R"(299 - "unknown field \"spec.x\"")");
  };
  Ending ending = apply_over_network(kMap);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_THAT(ending.objects[0].warnings, ElementsAre("unknown field \"spec.x\""));
  EXPECT_THAT(texts(EventKind::warning), ElementsAre("unknown field \"spec.x\""));
}

TEST_F(MishapsTest, WhatCannotBePrunedIsAnError) {
  Options options;
  options.name = "shop";
  std::string old = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old}\n";
  ASSERT_EQ(apply(std::string(kMap) + old, options).how, Ending::How::done);
  options.prune = true;
  network_.forbids = [](const http::Request& request) { return is(request, "DELETE", "/configmaps/old"); };
  Ending ending = apply_over_network(kMap, options);
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_EQ(states(ending), "ConfigMap default/x unchanged\n");
  EXPECT_THAT(reports(ending), HasSubstr("error: ConfigMap default/old could not be deleted\n  because   may not\n"));
  // It still is a member, so that the next run finds it.
  network_.forbids = {};
  EXPECT_EQ(states(apply_over_network(kMap, options)),
            "ConfigMap default/x unchanged\nConfigMap default/old removed\n");
}

TEST_F(MishapsTest, WhatIsNotPrunedInTimeIsLate) {
  Options options;
  options.name = "shop";
  std::string old = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: old, finalizers: [acme.dev/never]}\n";
  ASSERT_EQ(apply(std::string(kMap) + old, options).how, Ending::How::done);
  options.prune = true;
  options.timeout = minutes(1);
  Ending ending = apply_over_network(kMap, options);
  EXPECT_EQ(ending.how, Ending::How::timed_out) << events();
  EXPECT_THAT(reports(ending), HasSubstr("error: ConfigMap default/old is still there after 1m\n"));
}

TEST_F(MishapsTest, StoppedWhileTheClusterIsReadNothingIsSent) {
  CancelSource stop;
  network_.before = [&](const http::Request& request) -> Task<void> {
    if (is(request, "GET", "/namespaces")) stop.cancel();
    co_return;
  };
  Ending ending = apply_over_network(kMap, {}, &stop);
  EXPECT_EQ(ending.how, Ending::How::interrupted);
  EXPECT_EQ(states(ending), "ConfigMap default/x not sent (not ready)\n");
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/x").is_null());
}

// A ConfigMap that depends on an object outside the bundle.
std::string dependent(std::string_view on) {
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, annotations: {{config.kubernetes.io/depends-on: {}}}}}\n",
      on);
}

TEST_F(MishapsTest, AnObjectOutsideTheBundleIsWaitedForUntilItIsReady) {
  loop_.call_after(seconds(20), [this] {
    injector_.spawn([](MishapsTest& test) -> Task<void> {
      const object::Resource jobs{
          .group = "batch", .version = "v1", .kind = "Job", .plural = "jobs", .singular = "", .namespaced = true};
      EXPECT_TRUE(co_await test.client().create(jobs, "default", bundle_of(job("one")).objects[0].value()));
    }(*this));
  });
  sandbox_.core().options.delays.job_run = seconds(30);
  Ending ending = apply_over_network(dependent("batch/namespaces/default/Job/j"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_GT(ending.took, seconds(50));
}

TEST_F(MishapsTest, AnObjectOutsideTheBundleThatNeverComesIsToldAfterItsTime) {
  Options options;
  options.timeout_for["Job"] = seconds(40);
  Ending ending = apply_over_network(dependent("batch/namespaces/default/Job/j"), options);
  EXPECT_NE(ending.how, Ending::How::done) << events();
  EXPECT_THAT(reports(ending), HasSubstr("Job default/j does not exist or is not ready after 40s"));
  EXPECT_EQ(ending.took, seconds(40));
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/x").is_null());
}

TEST_F(MishapsTest, AnObjectOutsideTheBundleThatMayNotBeReadIsNotWaitedFor) {
  network_.forbids = [](const http::Request& request) { return is(request, "GET", "/jobs"); };
  Ending ending = apply_over_network(dependent("batch/namespaces/default/Job/j"));
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_THAT(reports(ending), HasSubstr("it is not known whether Job default/j is ready"));
  EXPECT_LT(ending.took, minutes(1));
}

TEST_F(MishapsTest, AnObjectOutsideTheBundleOfAnUnknownKindIsAnError) {
  Ending ending = apply_over_network(dependent("example.com/namespaces/default/Gadget/g"));
  EXPECT_EQ(ending.how, Ending::How::failed) << events();
  EXPECT_THAT(reports(ending), HasSubstr("Gadget.example.com default/g is neither in the bundle nor in the cluster"));
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/x").is_null());
}

}  // namespace
}  // namespace fairlead::rollout

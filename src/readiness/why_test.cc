#include "readiness/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/timestamp.h"
#include "readiness/verdict_testing.h"

namespace fairlead::readiness {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct PodShape {
  std::string_view name = "web-7c9f-x2x4l";
  std::string_view spec = R"("nodeName": "n1", "containers": [{"name": "main", "image": "ghcr.io/x/web:v1"}])";
  std::string_view status;
  std::string_view hash = "7c9f";
  std::string_view created = "2026-11-15T08:00:00Z";
};

Json pod(const PodShape& shape) {
  return object("v1", "Pod",
                fmt::format(R"("metadata": {{"name": "{}", "namespace": "team", "creationTimestamp": "{}",
                    "labels": {{"app": "web", "pod-template-hash": "{}"}},
                    "ownerReferences": [{{"kind": "ReplicaSet", "name": "web-{}", "uid": "rs", "controller": true}}]}},
                    "spec": {{{}}}, "status": {{{}}})",
                            shape.name, shape.created, shape.hash, shape.hash, shape.spec, shape.status));
}

Json with_state(std::string_view state, std::string_view more = "", std::string_view name = "web-7c9f-x2x4l") {
  std::string status = fmt::format(R"("phase": "Pending", "conditions": [{{"type": "PodScheduled", "status": "True"}}],
      "containerStatuses": [{{"name": "main", "ready": false, "state": {{{}}}{}}}])",
                                   state, more);
  return pod({.name = name, .status = status});
}

Json deployment(std::string_view image = "ghcr.io/x/web:v1") {
  return object("apps/v1", "Deployment",
                fmt::format(R"("metadata": {{"name": "web", "namespace": "team", "uid": "d"}},
                    "spec": {{"selector": {{"matchLabels": {{"app": "web"}}}},
                             "template": {{"spec": {{"containers": [{{"name": "main", "image": "{}"}}]}}}}}})",
                            image));
}

Why why(const Json& pod, const WhyOptions& options = {}) { return why_not_ready(deployment(), {&pod}, options); }

TEST(WhyPod, Images) {
  EXPECT_EQ(why(with_state(R"("waiting": {"reason": "ImagePullBackOff",
                "message": "Back-off pulling image \"ghcr.io/x/web:v1\""})")),
            (Why{.causes = {"pod web-7c9f-x2x4l is waiting: ImagePullBackOff (ghcr.io/x/web:v1)"},
                 .next = "kubectl -n team describe pod web-7c9f-x2x4l",
                 .grave = true}));
  EXPECT_EQ(why(with_state(R"("waiting": {"reason": "ErrImagePull", "message": "not found"})")),
            (Why{.causes = {"pod web-7c9f-x2x4l is waiting: ErrImagePull (ghcr.io/x/web:v1)", "not found"},
                 .next = "kubectl -n team describe pod web-7c9f-x2x4l",
                 .grave = true}));
}

TEST(WhyPod, Crashes) {
  EXPECT_EQ(why(with_state(R"("waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"})",
                           R"(, "restartCount": 5, "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled",
                              "message": "password=hunter2"}})")),
            (Why{.causes = {"pod web-7c9f-x2x4l is waiting: CrashLoopBackOff (container main)",
                            "container main ended with exit code 137 (OOMKilled), after 5 restarts"},
                 .next = "kubectl -n team logs web-7c9f-x2x4l -c main --previous",
                 .grave = true}));
  EXPECT_EQ(why(with_state(R"("terminated": {"exitCode": 1, "reason": "Error"})", R"(, "restartCount": 1)")),
            (Why{.causes = {"pod web-7c9f-x2x4l is not ready: container main ended with exit code 1, after 1 restart"},
                 .next = "kubectl -n team logs web-7c9f-x2x4l -c main"}));
}

TEST(WhyPod, Configuration) {
  Why missing = why(with_state(R"("waiting": {"reason": "CreateContainerConfigError",
      "message": "secret \"db\" not found"})"));
  EXPECT_THAT(missing.causes, ElementsAre("pod web-7c9f-x2x4l is waiting: CreateContainerConfigError (container main)",
                                          "secret \"db\" not found"));
  // A controller may still write it.
  EXPECT_FALSE(missing.permanent);
  EXPECT_TRUE(why(with_state(R"("waiting": {"reason": "CreateContainerConfigError",
      "message": "couldn't find key url in Secret team/db"})"))
                  .permanent);
  EXPECT_TRUE(why(with_state(R"("waiting": {"reason": "CreateContainerConfigError",
      "message": "container has runAsNonRoot and image will run as root"})"))
                  .permanent);
  EXPECT_TRUE(why(with_state(R"("waiting": {"reason": "ErrImageNeverPull"})")).permanent);
  EXPECT_FALSE(why(with_state(R"("waiting": {"reason": "RunContainerError", "message": "no such file"})")).permanent);
}

TEST(WhyPod, APodFromBeforeTheRunProvesNothing) {
  Json waiting = with_state(R"("waiting": {"reason": "ErrImageNeverPull"})");
  auto at = [](std::string_view time) { return WhyOptions{.begun = parse_timestamp(time)}; };
  EXPECT_TRUE(why(waiting, at("2026-11-15T07:59:59Z")).permanent);
  EXPECT_TRUE(why(waiting, at("2026-11-15T08:00:00.9Z")).permanent);
  EXPECT_FALSE(why(waiting, at("2026-11-15T08:00:01Z")).permanent);
  // A bad name is what it is at any time, as long as it is still asked for.
  Json invalid = with_state(R"("waiting": {"reason": "InvalidImageName"})");
  EXPECT_TRUE(why(invalid, at("2026-11-15T09:00:00Z")).permanent);
  EXPECT_FALSE(why_not_ready(deployment("ghcr.io/x/web:v2"), {&invalid}).permanent);
}

TEST(WhyPod, Scheduling) {
  Why unschedulable = why(pod({.status = R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status":
      "False", "reason": "Unschedulable", "message": "0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }."}])"}));
  EXPECT_THAT(unschedulable.causes,
              ElementsAre("pod web-7c9f-x2x4l is not scheduled: Unschedulable: 0/3 nodes are available: 3 node(s) had "
                          "untolerated taint {node.kubernetes.io/disk-pressure: }."));
  // An autoscaler may bring a node.
  EXPECT_FALSE(unschedulable.permanent);
}

TEST(WhyPod, InitContainersAndProbes) {
  constexpr std::string_view kInit = R"("nodeName": "n1", "initContainers": [{"name": "migrate"}, {"name": "proxy",
      "restartPolicy": "Always"}], "containers": [{"name": "main", "readinessProbe": {}, "startupProbe": {}}])";
  auto causes = [&](std::string_view status) { return why(pod({.spec = kInit, .status = status})).causes; };
  EXPECT_THAT(causes(R"("initContainerStatuses": [{"name": "migrate", "state": {"running": {}}}])"),
              ElementsAre("pod web-7c9f-x2x4l is starting: init container migrate is still running"));
  EXPECT_THAT(causes(R"("initContainerStatuses": [{"name": "migrate", "state": {"terminated": {"exitCode": 2}}}])"),
              ElementsAre("pod web-7c9f-x2x4l is not ready: init container migrate ended with exit code 2"));
  EXPECT_THAT(causes(R"("initContainerStatuses": [{"name": "migrate", "state": {"waiting":
                        {"reason": "CrashLoopBackOff"}}}])"),
              ElementsAre("pod web-7c9f-x2x4l is waiting: CrashLoopBackOff (init container migrate)"));
  constexpr std::string_view kDone = R"("initContainerStatuses": [{"name": "migrate", "state": {"terminated":
      {"exitCode": 0}}}, {"name": "proxy", "started": true, "state": {"running": {}}}])";
  auto after_init = [&](std::string_view status) { return causes(fmt::format("{}, {}", kDone, status)); };
  EXPECT_THAT(after_init(R"("containerStatuses": [{"name": "main", "ready": false, "started": true,
                            "state": {"running": {}}}])"),
              ElementsAre("pod web-7c9f-x2x4l is not ready: container main is running, but fails its readiness probe"));
  EXPECT_THAT(after_init(R"("containerStatuses": [{"name": "main", "ready": false, "started": false,
                            "restartCount": 2, "state": {"running": {}}}])"),
              ElementsAre("pod web-7c9f-x2x4l is not ready: container main is running, but fails its startup probe, "
                          "after 2 restarts"));
  EXPECT_THAT(after_init(R"("containerStatuses": [{"name": "main", "ready": true, "state": {"running": {}}}],
                            "conditions": [{"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady",
                            "message": "corresponding condition of pod readiness gate \"lb\" does not exist."}])"),
              ElementsAre("pod web-7c9f-x2x4l is not ready: corresponding condition of pod readiness gate \"lb\" does "
                          "not exist."));
}

TEST(WhyPod, Beginnings) {
  EXPECT_THAT(why(pod({.spec = ""})).causes, ElementsAre("pod web-7c9f-x2x4l has not been seen by the scheduler yet"));
  EXPECT_THAT(why(pod({})).causes, ElementsAre("pod web-7c9f-x2x4l has not been started by node n1 yet"));
  EXPECT_THAT(why(with_state(R"("waiting": {"reason": "ContainerCreating"})")).causes,
              ElementsAre("pod web-7c9f-x2x4l is starting: container main is not created yet"));
  EXPECT_THAT(why(pod({.status = R"("phase": "Running", "conditions": [{"type": "Ready", "status": "True"}])"})).causes,
              IsEmpty());
  EXPECT_THAT(why(pod({.status = R"("phase": "Failed", "reason": "Evicted", "message": "low on memory")"})).causes,
              ElementsAre("pod web-7c9f-x2x4l failed: Evicted: low on memory"));
}

TEST(Why, PicksTheGravestPodOfTheNewestVersion) {
  Json old_broken = pod({.name = "web-old-a",
                         .status = R"("containerStatuses": [{"name": "main", "state":
                             {"waiting": {"reason": "InvalidImageName"}}}])",
                         .hash = "old",
                         .created = "2026-11-15T07:00:00Z"});
  Json starting = with_state(R"("waiting": {"reason": "ContainerCreating"})", "", "web-7c9f-a");
  Json crashing = with_state(R"("waiting": {"reason": "CrashLoopBackOff"})", "", "web-7c9f-c");
  Json crashing_too = with_state(R"("waiting": {"reason": "CrashLoopBackOff"})", "", "web-7c9f-b");
  Why found = why_not_ready(deployment(), {&old_broken, &starting, &crashing, &crashing_too});
  EXPECT_THAT(found.causes, ElementsAre("pod web-7c9f-b is waiting: CrashLoopBackOff (container main) (and 1 more "
                                        "pod)"));
  EXPECT_FALSE(found.permanent);
  EXPECT_TRUE(why_not_ready(deployment(), {&old_broken}).permanent);
}

TEST(Why, WorkloadsWithoutPods) {
  Json refused = deployment();
  refused.make("status").make("conditions") = json(R"([{"type": "ReplicaFailure", "status": "True", "reason":
      "FailedCreate", "message": "exceeded quota: q"}])");
  Why found = why_not_ready(refused, {});
  EXPECT_EQ(found, (Why{.causes = {"none of its pods exists yet", "FailedCreate: exceeded quota: q"},
                        .next = "kubectl -n team describe deployment web"}));
  Json scaled_down = deployment();
  scaled_down.make("spec").make("replicas") = 0;
  EXPECT_EQ(why_not_ready(scaled_down, {}), Why{});
  EXPECT_EQ(why_not_ready(object("v1", "ConfigMap", ""), {}), Why{});
}

TEST(Why, WhoseAPodIs) {
  Json own = pod({});
  Json service = object("v1", "Service", R"("metadata": {"name": "web", "namespace": "team"},
                                            "spec": {"selector": {"app": "web"}})");
  EXPECT_TRUE(belongs(own, deployment()));
  EXPECT_TRUE(belongs(own, service));
  EXPECT_TRUE(belongs(own, own));
  Json elsewhere = own;
  elsewhere.make("metadata").make("namespace") = "other";
  EXPECT_FALSE(belongs(elsewhere, deployment()));
  EXPECT_FALSE(belongs(elsewhere, service));
  Json of_another = own;
  of_another.make("metadata").make("ownerReferences") =
      json(R"([{"kind": "ReplicaSet", "name": "website-1", "controller": true}])");
  EXPECT_FALSE(belongs(of_another, deployment()));
  EXPECT_TRUE(belongs(of_another, service));
  Json set = object("apps/v1", "ReplicaSet", R"("metadata": {"name": "web-7c9f", "namespace": "team", "uid": "rs"},
                                                "spec": {"selector": {"matchLabels": {"app": "web"}}})");
  EXPECT_TRUE(belongs(own, set));
  set.make("metadata").make("uid") = "another";
  EXPECT_FALSE(belongs(own, set));
}

TEST(WhyService, CountsEndpointsOnce) {
  Json service = object("v1", "Service", R"("metadata": {"name": "web", "namespace": "team"}, "spec": {})");
  auto slice = [](std::string_view ns, std::string_view name, std::string_view endpoints) {
    return json(fmt::format(R"({{"metadata": {{"namespace": "{}", "labels": {{"kubernetes.io/service-name": "{}"}}}},
                                "endpoints": {}}})",
                            ns, name, endpoints));
  };
  Json v4 = slice("team", "web", R"([{"addresses": ["10.0.0.1"], "targetRef": {"name": "a"}, "conditions": {}},
      {"addresses": ["10.0.0.2"], "targetRef": {"name": "b"}, "conditions": {"ready": false}}])");
  Json v6 = slice("team", "web", R"([{"addresses": ["fd00::1"], "targetRef": {"name": "a"}}])");
  Json foreign = slice("team", "api", R"([{"addresses": ["10.0.0.3"]}])");
  Json elsewhere = slice("other", "web", R"([{"addresses": ["10.0.0.4"]}])");
  EXPECT_EQ(count_endpoints(service, {&v4, &v6, &foreign, &elsewhere}), (EndpointCount{.ready = 1, .all = 2}));
  EXPECT_EQ(why_no_endpoints(service, {&v4}, {}), Why{});
}

TEST(WhyService, TellsTheWholeStory) {
  Json service = object("v1", "Service", R"("metadata": {"name": "web", "namespace": "team"},
                                            "spec": {"selector": {"app": "web"}})");
  Json slice = json(R"({"metadata": {"namespace": "team", "labels": {"kubernetes.io/service-name": "web"}},
      "endpoints": [{"addresses": ["10.0.0.1"], "conditions": {"ready": false}}]})");
  Json waiting = with_state(R"("waiting": {"reason": "ImagePullBackOff"})");
  Why found = why_no_endpoints(service, {&slice}, {&waiting});
  std::optional<Error> chain = found.error(ErrorKind::timeout);
  ASSERT_TRUE(chain);
  EXPECT_EQ(Error(ErrorKind::timeout, "Widget team/w was not accepted within 3m").because(*chain).report(),
            "error: Widget team/w was not accepted within 3m\n"
            "  because   service team/web has 0 of 1 endpoints ready\n"
            "  because   pod web-7c9f-x2x4l is waiting: ImagePullBackOff (ghcr.io/x/web:v1)\n"
            "  next      kubectl -n team describe pod web-7c9f-x2x4l\n");
  EXPECT_EQ(why_no_endpoints(service, {}, {}),
            (Why{.causes = {"service team/web has no endpoints", "no pod has the labels that it selects: app=web"},
                 .next = "kubectl -n team describe service web"}));
  Json up = pod({.status = R"("phase": "Running", "conditions": [{"type": "Ready", "status": "True"}])"});
  EXPECT_THAT(why_no_endpoints(service, {}, {&up}).causes,
              ElementsAre("service team/web has no endpoints", "its pods are ready, but not among its endpoints yet"));
  Json bare = object("v1", "Service", R"("metadata": {"name": "web", "namespace": "team"})");
  EXPECT_THAT(why_no_endpoints(bare, {}, {&up}).causes,
              ElementsAre("service team/web has no endpoints", "it has no selector, so it selects no pods"));
  EXPECT_FALSE(Why{}.error(ErrorKind::timeout));
}

TEST(WhyHostile, NothingButNamesGetsIntoACommand) {
  for (std::string_view name : {"a; rm -rf ~", "$(x)", "-f", "", "a b"}) {
    Json evil = pod({.name = name, .status = R"("phase": "Failed")"});
    EXPECT_EQ(why(evil).next, "") << name;
  }
  Json evil = with_state(R"("terminated": {"exitCode": 1})");
  evil.make("status").make("containerStatuses") =
      json(R"([{"name": "x;y", "state": {"terminated": {"exitCode": 1}}}])");
  EXPECT_EQ(why(evil).next, "kubectl -n team describe pod web-7c9f-x2x4l");
}

TEST(WhyHostile, WrongTypesEverywhere) {
  for (std::string_view value : {"null", "7", "[]", "[7]", "{}", R"("x")",
                                 R"([{"state": 7}, {"state": {"waiting": []}}])", R"([{"type": 1, "status": {}}])"}) {
    Json broken = pod({});
    for (std::string_view member : {"conditions", "containerStatuses", "initContainerStatuses", "phase"})
      broken.make("status").make(member) = json(value);
    EXPECT_FALSE(why(broken).permanent) << value;
    broken.make("metadata") = json(value);
    EXPECT_EQ(why(broken).causes, why_not_ready(deployment(), {}).causes) << value;
    Json slices = json(value);
    EXPECT_EQ(count_endpoints(deployment(), {&slices}), EndpointCount{}) << value;
    EXPECT_FALSE(why_not_ready(slices, {&broken}).permanent) << value;
  }
}

}  // namespace
}  // namespace fairlead::readiness

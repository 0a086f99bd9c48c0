#include "readiness/verdict.h"

#include <gtest/gtest.h>

#include <random>

#include "readiness/verdict_testing.h"

namespace fairlead::readiness {
namespace {

constexpr std::string_view kStored = "ready: it is stored, and there is nothing else to wait for";

TEST(Judge, DeletionComesFirst) {
  expect_verdicts("batch/v1", "Job",
                  {{R"("metadata": {"deletionTimestamp": "2026-11-15T07:50:03Z"},
                       "status": {"conditions": [{"type": "Failed", "status": "True"}]})",
                    "terminating: it has been terminating since 2026-11-15T07:50:03Z"}});
}

TEST(Judge, WhatHasNoStatusOfItsOwnIsReadyAtOnce) {
  for (auto [api_version, kind] :
       {std::pair("v1", "ConfigMap"), std::pair("v1", "Secret"), std::pair("policy/v1", "PodDisruptionBudget"),
        std::pair("batch/v1", "CronJob"), std::pair("rbac.authorization.k8s.io/v1", "ClusterRole"),
        std::pair("v1", "ServiceAccount"), std::pair("example.com/v1", "Widget")})
    expect_verdicts(api_version, kind, {{"", kStored}});
  expect_verdicts("policy/v1", "PodDisruptionBudget",
                  {{R"("metadata": {"generation": 2}, "status": {"observedGeneration": 1})",
                    "in progress: its status is for generation 1, but the object is at generation 2"},
                   {R"("metadata": {"generation": 2}, "status": {"observedGeneration": 2})", kStored}});
}

TEST(Judge, CustomResourcesSpeakInConditions) {
  expect_verdicts(
      "example.com/v1", "Widget",
      {{R"("status": {"conditions": [{"type": "Ready", "status": "True"}]})", "ready: Ready is True"},
       {R"("status": {"conditions": [{"type": "Ready", "status": "False", "reason": "NoKey", "message": "key k is gone"}]})",
        "in progress: Ready is False: NoKey: key k is gone"},
       {R"("status": {"conditions": [{"type": "Ready", "status": "Unknown", "message": "trying"}]})",
        "in progress: Ready is Unknown: trying"},
       {R"("status": {"conditions": [{"type": "Available", "status": "False", "reason": "Down"}]})",
        "in progress: Available is False: Down"},
       {R"("status": {"conditions": [{"type": "Available", "status": "Degraded"}]})", "ready: Available is Degraded"},
       // Ready counts for more.
       {R"("status": {"conditions": [{"type": "Available", "status": "False"}, {"type": "Ready", "status": "True"}]})",
        "ready: Ready is True"},
       {R"("metadata": {"generation": 4}, "status": {"conditions": [{"type": "Ready", "status": "True",
           "observedGeneration": 3}]})",
        "in progress: its condition Ready is from an older generation"},
       {R"("status": {"conditions": [{"type": "Reconciling", "status": "True", "reason": "Progressing"},
           {"type": "Ready", "status": "True"}]})",
        "in progress: Reconciling is True: Progressing"},
       {R"("status": {"conditions": [{"type": "Stalled", "status": "True", "reason": "NoRetriesLeft"}]})",
        "failed for good: Stalled is True: NoRetriesLeft"},
       {R"("metadata": {"generation": 4}, "status": {"conditions": [{"type": "Stalled", "status": "True",
           "observedGeneration": 3}, {"type": "Ready", "status": "False"}]})",
        "in progress: Ready is False"},
       {R"("metadata": {"generation": 2}, "status": {"observedGeneration": 1, "conditions": [{"type": "Stalled",
           "status": "True"}]})",
        "in progress: its status is for generation 1, but the object is at generation 2"}});
}

TEST(Judge, NoStatusYetCountsOnlyIfOneIsExpected) {
  for (std::string_view rest : {R"("spec": {})", R"("status": {})", R"("status": null)"}) {
    Json widget = object("example.com/v1", "Widget", rest);
    EXPECT_EQ(text(judge(widget)), kStored);
    EXPECT_EQ(text(judge(widget, {.status_expected = true})), "in progress: no controller has written its status yet");
  }
  EXPECT_EQ(text(judge(object("example.com/v1", "Widget", R"("status": {"phase": "x"})"), {.status_expected = true})),
            kStored);
}

TEST(Judge, AFirstStatusWithoutTheUsualConditionsIsNotTheEnd) {
  Json widget =
      object("example.com/v1", "Widget", R"("status": {"conditions": [{"type": "Synced", "status": "True"}]})");
  EXPECT_EQ(text(judge(widget)), kStored);
  EXPECT_EQ(text(judge(widget, {.status_expected = true})),
            "in progress: its controller has not reported yet whether it is ready");
}

TEST(Judge, WhatIsUnderWayIsNotReadyHoweverLongItTakes) {
  expect_verdicts(
      "example.com/v1", "Widget",
      {{R"("status": {"conditions": [{"type": "Progressing", "status": "True", "reason": "Building"}]})",
        "in progress: Progressing is True: Building"},
       {R"("status": {"conditions": [{"type": "Issuing", "status": "True"}]})", "in progress: Issuing is True"},
       {R"("status": {"conditions": [{"type": "Progressing", "status": "False"}]})", kStored},
       {R"("status": {"conditions": [{"type": "Progressing", "status": "True"},
                                                 {"type": "Available", "status": "True"}]})",
        "ready: Available is True"}});
}

TEST(Judge, TheKindAloneIsNotEnough) {
  // Knative has a Service of its own, without a rule here.
  expect_verdicts("serving.knative.dev/v1", "Service",
                  {{R"("spec": {"type": "LoadBalancer"}, "status": {"conditions": [{"type": "Ready", "status":
                       "False", "reason": "RevisionMissing"}]})",
                    "in progress: Ready is False: RevisionMissing"}});
}

TEST(JudgeDefinition, Table) {
  expect_verdicts("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                  {{"", "in progress: it is not established yet"},
                   {R"("status": {"conditions": [
           {"type": "NamesAccepted", "status": "True", "reason": "NoConflicts", "message": "no conflicts found"},
           {"type": "Established", "status": "True", "reason": "InitialNamesAccepted"}]})",
                    "ready: it is established"},
                   {R"("status": {"conditions": [
           {"type": "NamesAccepted", "status": "False", "reason": "ListKindConflict",
            "message": "\"WidgetList\" is already in use"},
           {"type": "Established", "status": "False", "reason": "NotAccepted"}]})",
                    "failed for good: NamesAccepted is False: ListKindConflict: \"WidgetList\" is already in use"},
                   {R"("status": {"conditions": [{"type": "Established", "status": "False", "reason": "Installing",
           "message": "the initial names have been accepted"}]})",
                    "in progress: Established is False: Installing: the initial names have been accepted"}});
}

TEST(JudgeApiService, Table) {
  expect_verdicts(
      "apiregistration.k8s.io/v1", "APIService",
      {{"", "in progress: the API server has not checked it yet"},
       {R"("status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints", "message":
           "endpointslices for service/noep in \"wh\" have no addresses with port name \"\""}]})",
        "in progress: Available is False: MissingEndpoints: endpointslices for service/noep in \"wh\" have no "
        "addresses with port name \"\""},
       {R"("status": {"conditions": [{"type": "Available", "status": "True", "reason": "Passed"}]})",
        "ready: Available is True: Passed"}});
}

TEST(JudgeNamespace, Table) {
  expect_verdicts("v1", "Namespace",
                  {{R"("status": {"phase": "Active"})", "ready: it is Active"},
                   {R"("status": {"phase": "Terminating"})", "terminating: it is being deleted"},
                   {"", "in progress: it is not Active yet"}});
}

TEST(JudgeAddresses, LoadBalancersAndIngresses) {
  constexpr std::string_view kNone = "in progress: the load balancer has not assigned an address yet";
  expect_verdicts(
      "v1", "Service",
      {{R"("spec": {"type": "ClusterIP"})", kStored},
       {"", kStored},
       {R"("spec": {"type": "LoadBalancer", "clusterIP": "10.0.0.1"})", kNone},
       {R"("spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": []}})", kNone},
       {R"("spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": ""}]}})", kNone},
       {R"("spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.7"}]}})",
        "ready: its address is 192.0.2.7"},
       {R"("spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}]}})",
        "ready: its address is lb.example"}});
  expect_verdicts("networking.k8s.io/v1", "Ingress",
                  {{"", "in progress: the ingress controller has not assigned an address yet"},
                   {R"("status": {"loadBalancer": {"ingress": [{"hostname": "lb.example"}]}})",
                    "ready: its address is lb.example"}});
}

TEST(JudgeClaim, Table) {
  constexpr std::string_view kPending = R"("status": {"phase": "Pending"})";
  constexpr std::string_view kChosen =
      R"("metadata": {"annotations": {"volume.kubernetes.io/selected-node": "n1"}}, "status": {"phase": "Pending"})";
  expect_verdicts("v1", "PersistentVolumeClaim",
                  {{R"("spec": {"volumeName": "pv-1"}, "status": {"phase": "Bound"})", "ready: it is bound to pv-1"},
                   {R"("status": {"phase": "Lost"})", "failed for good: the volume that it was bound to is lost"},
                   {"", "in progress: it is not bound to a volume yet"},
                   {kPending, "in progress: it is Pending, not bound yet"}});
  expect_verdicts("v1", "PersistentVolumeClaim",
                  {{kPending, "ready: it is bound when the first pod uses it"},
                   {kChosen, "in progress: it is Pending, not bound yet"}},
                  {.binds_on_first_use = true});
}

TEST(JudgeVolume, Table) {
  expect_verdicts(
      "v1", "PersistentVolume",
      {{R"("status": {"phase": "Available"})", "ready: it is Available"},
       {R"("status": {"phase": "Bound"})", "ready: it is Bound"},
       {R"("status": {"phase": "Pending"})", "in progress: it is Pending"},
       {"", "in progress: it has no phase yet"},
       {R"("status": {"phase": "Released"})",
        "failed: its claim was deleted, and it accepts no other claim while spec.claimRef is set"},
       {R"("status": {"phase": "Failed", "message": "no deleter"})", "failed: the volume failed: no deleter"}});
}

TEST(JudgeAutoscaler, NeedsItsTargetAndNotItsMetrics) {
  expect_verdicts(
      "autoscaling/v2", "HorizontalPodAutoscaler",
      {{"", "in progress: its controller has not seen it yet"},
       {R"("status": {"conditions": [{"type": "AbleToScale", "status": "False", "reason": "FailedGetScale", "message":
           "deployments.apps \"web\" not found"}]})",
        "in progress: AbleToScale is False: FailedGetScale: deployments.apps \"web\" not found"},
       {R"("status": {"conditions": [{"type": "AbleToScale", "status": "True", "reason": "SucceededGetScale"},
           {"type": "ScalingActive", "status": "False", "reason": "FailedGetResourceMetric"}]})",
        "ready: it can scale, but ScalingActive is False: FailedGetResourceMetric"},
       {R"("status": {"conditions": [{"type": "AbleToScale", "status": "True", "reason": "ReadyForNewScale"},
           {"type": "ScalingActive", "status": "True"}]})",
        "ready: AbleToScale is True: ReadyForNewScale"}});
}

TEST(JudgeAutoscaler, TheOldVersionHasItsConditionsInAnAnnotation) {
  expect_verdicts("autoscaling/v1", "HorizontalPodAutoscaler",
                  {{R"("status": {"currentReplicas": 0})", "in progress: its controller has not seen it yet"},
                   {R"("metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/conditions": "[{"}})",
                    "in progress: its controller has not seen it yet"},
                   {R"("metadata": {"annotations": {"autoscaling.alpha.kubernetes.io/conditions":
                       "[{\"type\":\"AbleToScale\",\"status\":\"True\",\"reason\":\"SucceededGetScale\"}]"}})",
                    "ready: AbleToScale is True: SucceededGetScale"}});
}

TEST(JudgeWebhooks, NeedACertificateToTrust) {
  constexpr std::string_view kReady = "ready: it is stored; its webhooks are proved separately";
  constexpr std::string_view kEmpty = "in progress: the caBundle of webhook b.example is not filled in yet";
  for (std::string_view kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"})
    expect_verdicts(
        "admissionregistration.k8s.io/v1", kind,
        {{"", kReady},
         {R"("webhooks": [{"name": "a", "clientConfig": {"url": "https://a.example"}}])", kReady},
         {R"("webhooks": [{"name": "b.example", "clientConfig": {"service": {"name": "x"}}}])", kEmpty},
         {R"("webhooks": [{"name": "b.example", "clientConfig": {"service": {}, "caBundle": "Cg=="}}])", kEmpty},
         // -----BEGIN CERTIFICATE-----
         {R"("webhooks": [{"name": "b.example", "clientConfig": {"service": {}, "caBundle":
                         "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}}])",
          kReady},
         // Each of them needs one.
         {R"("webhooks": [{"name": "a.example", "clientConfig": {"service": {}, "caBundle":
                         "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t"}},
                         {"name": "b.example", "clientConfig": {"service": {}}}])",
          kEmpty}});
}

TEST(JudgeReadyWhen, DecidesAlone) {
  auto with = [](std::string_view annotation, std::string_view rest) {
    return text(judge(object("batch/v1", "Job",
                             fmt::format(R"("metadata": {{"generation": 2, "annotations": {{"fairlead.dev/ready-when":
                                 "{}"}}}}, {})",
                                         annotation, rest))));
  };
  constexpr std::string_view kRunning = R"("status": {"startTime": "t", "active": 1})";
  EXPECT_EQ(with("create", kRunning), "ready: it is stored, which is all that its annotation asks for");
  EXPECT_EQ(with("jsonpath={.status.active}=1", kRunning), "ready: {.status.active} is 1");
  EXPECT_EQ(with("jsonpath={.status.active}=2", kRunning), "in progress: {.status.active} is 1, not 2 yet");
  EXPECT_EQ(with("jsonpath={.status}=1", kRunning), "in progress: {.status} is an object, which cannot be compared");
  EXPECT_EQ(with("condition=Complete", kRunning), "in progress: it has no condition Complete yet");
  EXPECT_EQ(with("condition=Complete", R"("status": {"conditions": [{"type": "Failed", "status": "True"}]})"),
            "failed for good: Job failed: no reason is given");
  EXPECT_EQ(with("jsonpath={.status.x}", R"("status": {"x": 1, "observedGeneration": 1})"),
            "in progress: its status is for generation 1, but the object is at generation 2");
  EXPECT_EQ(with("create", R"("status": {"x": 1, "observedGeneration": 1})"),
            "ready: it is stored, which is all that its annotation asks for");
  EXPECT_EQ(with("soon", kRunning),
            "failed for good: its annotation fairlead.dev/ready-when cannot be used: \"soon\" is not a known form");
}

TEST(JudgeReadyWhen, ShowsNothingOfASecret) {
  Json secret = object("v1", "Secret", R"("data": {"key": "aHVudGVyMg=="}, "metadata": {"annotations":
      {"fairlead.dev/ready-when": "jsonpath={.data.key}=other"}})");
  EXPECT_EQ(text(judge(secret)), "in progress: {.data.key} has another value");
}

TEST(JudgeHostile, WordsStayOnOneLineAndShort) {
  Verdict verdict = judge(object("example.com/v1", "Widget",
                                 fmt::format(R"("status": {{"conditions": [{{"type": "Ready", "status": "False",
                                     "reason": "A\nB\u001b[31m", "message": "{}"}}]}})",
                                             std::string(5000, 'x'))));
  EXPECT_TRUE(verdict.reason.starts_with("Ready is False: A B?[31m: xxx")) << verdict.reason;
  EXPECT_LE(verdict.reason.size(), 610U);
}

TEST(JudgeHostile, WhatIsNoObjectIsUnknown) {
  for (std::string_view value : {"null", "1", "[]", "{}", R"("x")", R"({"kind": 1})", R"({"kind": ""})"})
    EXPECT_EQ(text(judge(json(value))), "unknown: it is not a Kubernetes object") << value;
}

// A value of any shape, with the names that the rules look for in it.
Json any_json(std::mt19937& random, int depth) {
  static constexpr std::array<std::string_view, 40> kNames = {"metadata",
                                                              "spec",
                                                              "status",
                                                              "conditions",
                                                              "type",
                                                              "reason",
                                                              "message",
                                                              "generation",
                                                              "observedGeneration",
                                                              "replicas",
                                                              "readyReplicas",
                                                              "updatedReplicas",
                                                              "availableReplicas",
                                                              "annotations",
                                                              "fairlead.dev/ready-when",
                                                              "phase",
                                                              "containerStatuses",
                                                              "initContainerStatuses",
                                                              "state",
                                                              "waiting",
                                                              "terminated",
                                                              "running",
                                                              "name",
                                                              "loadBalancer",
                                                              "ingress",
                                                              "ip",
                                                              "webhooks",
                                                              "clientConfig",
                                                              "service",
                                                              "caBundle",
                                                              "updateStrategy",
                                                              "rollingUpdate",
                                                              "partition",
                                                              "desiredNumberScheduled",
                                                              "exitCode",
                                                              "lastState",
                                                              "restartCount",
                                                              "startTime",
                                                              "completions",
                                                              "deletionTimestamp"};
  static constexpr std::array<std::string_view, 14> kWords = {"True",
                                                              "False",
                                                              "Ready",
                                                              "Available",
                                                              "Progressing",
                                                              "Failed",
                                                              "Stalled",
                                                              "Running",
                                                              "Pending",
                                                              "CrashLoopBackOff",
                                                              "condition=Ready",
                                                              "jsonpath={.status..x}",
                                                              "jsonpath={.status[*]}=1",
                                                              ""};
  auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  switch (pick(depth > 0 ? 9 : 6)) {
    case 0: return {};
    case 1: return pick(2) == 0;
    case 2: return static_cast<int64_t>(pick(7)) - 2;
    case 3: return pick(2) == 0 ? Json(std::numeric_limits<int64_t>::max()) : Json(std::numeric_limits<int64_t>::min());
    case 4: return Json(std::numeric_limits<uint64_t>::max());
    case 5: return Json(kWords[pick(kWords.size())]);
    case 6: {
      Json::Array items;
      for (size_t n = pick(4); n > 0; --n) items.push_back(any_json(random, depth - 1));
      return items;
    }
    default: {
      Json value{Json::Object()};
      for (size_t n = pick(12); n > 0; --n) value.make(kNames[pick(kNames.size())]) = any_json(random, depth - 1);
      return value;
    }
  }
}

TEST(JudgeHostile, EveryValueGetsAVerdictWithWords) {
  constexpr std::array kKinds = {std::pair("apps/v1", "Deployment"),
                                 std::pair("apps/v1", "StatefulSet"),
                                 std::pair("apps/v1", "DaemonSet"),
                                 std::pair("apps/v1", "ReplicaSet"),
                                 std::pair("batch/v1", "Job"),
                                 std::pair("v1", "Pod"),
                                 std::pair("v1", "PersistentVolumeClaim"),
                                 std::pair("v1", "PersistentVolume"),
                                 std::pair("v1", "Service"),
                                 std::pair("v1", "Namespace"),
                                 std::pair("networking.k8s.io/v1", "Ingress"),
                                 std::pair("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
                                 std::pair("apiregistration.k8s.io/v1", "APIService"),
                                 std::pair("autoscaling/v2", "HorizontalPodAutoscaler"),
                                 std::pair("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
                                 std::pair("example.com/v1", "Widget")};
  std::mt19937 random(20261115);
  size_t seen[5] = {};
  for (int round = 0; round < 3000; ++round) {
    Json body{Json::Object()};
    for (std::string_view part : {"metadata", "spec", "status", "webhooks"}) body.make(part) = any_json(random, 6);
    for (auto [api_version, kind] : kKinds) {
      body.make("apiVersion") = api_version;
      body.make("kind") = kind;
      Verdict verdict = judge(body, {.status_expected = round % 2 == 0, .binds_on_first_use = round % 3 == 0});
      ASSERT_FALSE(verdict.reason.empty()) << body.dump();
      ASSERT_EQ(verdict.reason.find('\n'), std::string::npos) << body.dump();
      ASSERT_TRUE(!verdict.permanent || verdict.state == State::failed) << body.dump();
      ++seen[static_cast<size_t>(verdict.state)];
    }
  }
  // The values are varied enough to reach most of the rules.
  EXPECT_GT(seen[static_cast<size_t>(State::ready)], 100U);
  EXPECT_GT(seen[static_cast<size_t>(State::in_progress)], 100U);
  EXPECT_GT(seen[static_cast<size_t>(State::failed)], 10U);
  EXPECT_GT(seen[static_cast<size_t>(State::terminating)], 10U);
}

}  // namespace
}  // namespace fairlead::readiness

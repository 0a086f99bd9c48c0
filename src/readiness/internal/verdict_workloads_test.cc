#include <gtest/gtest.h>

#include "readiness/verdict_testing.h"

namespace fairlead::readiness {
namespace {

constexpr std::string_view kUnseen = "in progress: its controller has not seen it yet";

std::string deployment(std::string_view spec, std::string_view numbers, std::string_view conditions = R"(
    {"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"},
    {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"})") {
  Json value = object("apps/v1", "Deployment",
                      fmt::format(R"("metadata": {{"generation": 2}}, "spec": {{{}}},
                          "status": {{"observedGeneration": 2, {}, "conditions": [{}]}})",
                                  spec, numbers, conditions));
  return text(judge(value));
}

TEST(JudgeDeployment, AsksInOrder) {
  constexpr std::string_view kThree = R"("replicas": 3, "progressDeadlineSeconds": 600)";
  auto three = [&](std::string_view numbers) { return deployment(kThree, numbers); };
  EXPECT_EQ(three(R"("replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3)"),
            "ready: 3 of 3 replicas are ready");
  EXPECT_EQ(three(R"("replicas": 2)"), "in progress: 2 of 3 replicas are created");
  EXPECT_EQ(three(R"("replicas": 3, "updatedReplicas": 1)"), "in progress: 1 of 3 replicas are updated");
  EXPECT_EQ(three(R"("replicas": 4, "updatedReplicas": 3)"), "in progress: 1 old replica is pending termination");
  EXPECT_EQ(three(R"("replicas": 5, "updatedReplicas": 3)"), "in progress: 2 old replicas are pending termination");
  EXPECT_EQ(three(R"("replicas": 3, "updatedReplicas": 3, "readyReplicas": 2)"),
            "in progress: 2 of 3 replicas are ready");
  EXPECT_EQ(three(R"("replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 1)"),
            "in progress: 1 of 3 replicas are available");
}

TEST(JudgeDeployment, WantsOneReplicaUnlessItSaysOtherwise) {
  EXPECT_EQ(deployment("", R"("replicas": 0)"), "in progress: 0 of 1 replica is created");
  EXPECT_EQ(deployment("", R"("replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1)"),
            "ready: 1 of 1 replica is ready");
  EXPECT_EQ(deployment(R"("replicas": 0)", R"("replicas": 0)"), "ready: it is scaled to 0 replicas");
  EXPECT_EQ(deployment(R"("replicas": 0)", R"("replicas": 1, "updatedReplicas": 1)"),
            "in progress: 1 old replica is pending termination");
}

TEST(JudgeDeployment, BelievesItsConditions) {
  constexpr std::string_view kAll =
      R"("replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1)";
  constexpr std::string_view kAvailable = R"({"type": "Available", "status": "True"})";
  constexpr std::string_view kDeadline = R"("progressDeadlineSeconds": 600)";
  EXPECT_EQ(deployment(kDeadline, kAll, kAvailable),
            "in progress: its controller has not reported yet that it is rolled out");
  EXPECT_EQ(deployment(R"("progressDeadlineSeconds": 2147483647)", kAll, kAvailable), "ready: 1 of 1 replica is ready");
  EXPECT_EQ(deployment("", kAll, kAvailable), "ready: 1 of 1 replica is ready");
  EXPECT_EQ(deployment("", kAll, ""), "in progress: its controller has not reported yet that it is available");
  EXPECT_EQ(deployment("", kAll, R"({"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable",
                                    "message": "Deployment does not have minimum availability."})"),
            "in progress: Available is False: MinimumReplicasUnavailable: Deployment does not have minimum "
            "availability.");
  EXPECT_EQ(deployment(kDeadline, kAll, R"({"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"})"),
            "in progress: Progressing is True: ReplicaSetUpdated");
  // It may still recover if a new run brings what was missing.
  EXPECT_EQ(deployment(kDeadline, R"("replicas": 1, "updatedReplicas": 1)",
                       R"({"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
                           "message": "ReplicaSet \"web-1\" has timed out progressing."})"),
            "failed: Progressing is False: ProgressDeadlineExceeded: ReplicaSet \"web-1\" has timed out progressing.");
  EXPECT_EQ(deployment("", R"("unavailableReplicas": 1)", R"({"type": "ReplicaFailure", "status": "True",
                        "reason": "FailedCreate", "message": "pods \"web\" is forbidden: exceeded quota: q"})"),
            "in progress: ReplicaFailure is True: FailedCreate: pods \"web\" is forbidden: exceeded quota: q");
}

TEST(JudgeDeployment, PausedIsAsFarAsItGoes) {
  EXPECT_EQ(deployment(R"("paused": true)", R"("replicas": 0)", ""),
            "ready: it is paused: nothing is rolled out until it is resumed");
  expect_verdicts("apps/v1", "Deployment", {{R"("spec": {"paused": true})", kUnseen}});
}

TEST(JudgeDeployment, WaitsForItsController) {
  expect_verdicts("apps/v1", "Deployment",
                  {{"", kUnseen},
                   {R"("metadata": {"generation": 1}, "spec": {"replicas": 0}, "status": {})", kUnseen},
                   {R"("metadata": {"generation": 3}, "spec": {"replicas": 0}, "status": {"observedGeneration": 2})",
                    "in progress: its status is for generation 2, but the object is at generation 3"}});
}

TEST(JudgeStatefulSet, Table) {
  expect_verdicts(
      "apps/v1", "StatefulSet",
      {{R"("spec": {"replicas": 0})", kUnseen},
       {R"("spec": {"replicas": 0}, "status": {"observedGeneration": 1, "currentRevision": "a", "updateRevision": "a"})",
        "ready: it is scaled to 0 replicas"},
       {R"("spec": {}, "status": {"observedGeneration": 1})", "in progress: 0 of 1 replica is created"},
       {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 1})",
        "in progress: 1 of 2 replicas are ready"},
       {R"("spec": {"replicas": 1}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2})",
        "in progress: 1 old replica is pending termination"},
       // minReadySeconds, which kstatus passes over.
       {R"("spec": {"replicas": 2, "minReadySeconds": 30}, "status": {"observedGeneration": 1, "replicas": 2,
           "readyReplicas": 2, "availableReplicas": 1})",
        "in progress: 1 of 2 replicas are available"},
       {R"("spec": {"replicas": 2, "minReadySeconds": 30}, "status": {"observedGeneration": 1, "replicas": 2,
           "readyReplicas": 2, "updatedReplicas": 2})",
        "in progress: 0 of 2 replicas are available"},
       {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2,
           "updatedReplicas": 2, "currentRevision": "a", "updateRevision": "a"})",
        "ready: 2 of 2 replicas are ready"},
       {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2,
           "availableReplicas": 2, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"})",
        "in progress: 1 of 2 replicas are updated"},
       {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "readyReplicas": 2,
           "availableReplicas": 2, "updatedReplicas": 2, "currentRevision": "a", "updateRevision": "b"})",
        "in progress: the update from a to b is not complete"},
       {R"("spec": {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}}, "status":
           {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "updatedReplicas": 1,
            "currentRevision": "a", "updateRevision": "b"})",
        "ready: 3 of 3 replicas are ready, 1 updated (partition 2)"},
       {R"("spec": {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 1}}}, "status":
           {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3, "updatedReplicas": 1})",
        "in progress: 1 of 2 replicas are updated"},
       {R"("spec": {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 9}}}, "status":
           {"observedGeneration": 1, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3})",
        "ready: 3 of 3 replicas are ready, 0 updated (partition 9)"},
       // OnDelete is never updated by itself, but its replicas still have to come up.
       {R"("spec": {"replicas": 2, "updateStrategy": {"type": "OnDelete"}}, "status": {"observedGeneration": 1,
           "replicas": 2, "readyReplicas": 1})",
        "in progress: 1 of 2 replicas are ready"},
       {R"("spec": {"replicas": 2, "updateStrategy": {"type": "OnDelete"}}, "status": {"observedGeneration": 1,
           "replicas": 2, "readyReplicas": 2, "availableReplicas": 2, "currentRevision": "a", "updateRevision": "b"})",
        "ready: 2 of 2 replicas are ready"}});
}

TEST(JudgeDaemonSet, Table) {
  auto status = [](std::string_view numbers) {
    return fmt::format(R"("status": {{"observedGeneration": 1, {}}})", numbers);
  };
  auto verdict = [&](std::string_view numbers, std::string_view spec = "") {
    return text(judge(object("apps/v1", "DaemonSet", fmt::format(R"("spec": {{{}}}, {})", spec, status(numbers)))));
  };
  expect_verdicts("apps/v1", "DaemonSet",
                  {{"", kUnseen},
                   {R"("status": {"observedGeneration": 1})", kUnseen},
                   {R"("status": {"desiredNumberScheduled": 0})", kUnseen}});
  EXPECT_EQ(verdict(R"("desiredNumberScheduled": 0)"), "ready: no node is eligible for its pods");
  EXPECT_EQ(verdict(R"("desiredNumberScheduled": 2, "currentNumberScheduled": 1)"),
            "in progress: 1 of 2 pods are created");
  constexpr std::string_view kOld = R"("desiredNumberScheduled": 2, "currentNumberScheduled": 2, "numberReady": 2,
      "numberAvailable": 2, "updatedNumberScheduled": 1)";
  EXPECT_EQ(verdict(kOld), "in progress: 1 of 2 pods are updated");
  EXPECT_EQ(verdict(kOld, R"("updateStrategy": {"type": "OnDelete"})"), "ready: 2 of 2 pods are ready");
  EXPECT_EQ(verdict(R"("desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1)"),
            "in progress: 0 of 1 pod is ready");
  EXPECT_EQ(verdict(R"("desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 1,
                       "numberReady": 1)"),
            "in progress: 0 of 1 pod is available");
}

TEST(JudgeReplicaSet, Table) {
  for (auto [api_version, kind] : {std::pair("apps/v1", "ReplicaSet"), std::pair("v1", "ReplicationController")})
    expect_verdicts(
        api_version, kind,
        {{"", kUnseen},
         {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "fullyLabeledReplicas": 2,
             "readyReplicas": 2, "availableReplicas": 2})",
          "ready: 2 of 2 replicas are ready"},
         {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 1})",
          "in progress: 1 of 2 replicas are created"},
         {R"("spec": {"replicas": 2}, "status": {"observedGeneration": 1, "replicas": 2, "fullyLabeledReplicas": 1})",
          "in progress: 1 of 2 replicas are fully labelled"},
         {R"("spec": {}, "status": {"observedGeneration": 1, "replicas": 1, "fullyLabeledReplicas": 1})",
          "in progress: 0 of 1 replica is ready"},
         {R"("spec": {}, "status": {"observedGeneration": 1, "replicas": 1, "fullyLabeledReplicas": 1,
             "readyReplicas": 1})",
          "in progress: 0 of 1 replica is available"},
         {R"("spec": {"replicas": 0}, "status": {"observedGeneration": 1, "replicas": 1})",
          "in progress: 1 old replica is pending termination"},
         {R"("status": {"observedGeneration": 1, "conditions": [{"type": "ReplicaFailure", "status": "True",
             "reason": "FailedCreate", "message": "no"}]})",
          "in progress: ReplicaFailure is True: FailedCreate: no"}});
}

TEST(JudgeJob, WaitsForItsEndAndFailsAtOnce) {
  expect_verdicts(
      "batch/v1", "Job",
      {{"", "in progress: it has not started yet"},
       // kstatus takes a running Job for done.
       {R"("spec": {"completions": 3, "parallelism": 2}, "status": {"startTime": "2026-11-15T07:50:03Z",
           "succeeded": 1, "active": 2, "failed": 1})",
        "in progress: 1 of 3 pods are done, 2 running, 1 failed"},
       {R"("spec": {}, "status": {"startTime": "2026-11-15T07:50:03Z"})", "in progress: 0 of 1 pod is done"},
       {R"("spec": {}, "status": {"startTime": "2026-11-15T07:50:03Z", "succeeded": 1, "conditions":
           [{"type": "SuccessCriteriaMet", "status": "True", "reason": "CompletionsReached"}]})",
        "in progress: 1 of 1 pod is done"},
       {R"("status": {"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]})",
        "ready: Job completed, 1 pod succeeded"},
       {R"("status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True", "reason":
           "BackoffLimitExceeded", "message": "Job has reached the specified backoff limit"}]})",
        "failed for good: Job failed: BackoffLimitExceeded: Job has reached the specified backoff limit"},
       {R"("status": {"active": 1, "conditions": [{"type": "FailureTarget", "status": "True", "reason":
           "DeadlineExceeded", "message": "Job was active longer than specified deadline"}]})",
        "failed for good: Job failed: DeadlineExceeded: Job was active longer than specified deadline"},
       {R"("status": {"conditions": [{"type": "Failed", "status": "True"}]})",
        "failed for good: Job failed: no reason is given"},
       {R"("status": {"conditions": [{"type": "Failed", "status": "False"}]})", "in progress: it has not started yet"},
       {R"("spec": {"suspend": true})", "in progress: it is being suspended"},
       {R"("spec": {"suspend": true}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]})",
        "ready: it is suspended, and does not run until it is resumed"},
       {R"("spec": {"suspend": false}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]})",
        "in progress: it has not started yet"}});
}

TEST(JudgePod, Table) {
  expect_verdicts(
      "v1", "Pod",
      {{R"("status": {"phase": "Succeeded"})", "ready: it completed"},
       {R"("status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})",
        "ready: it is running and ready"},
       {R"("status": {"phase": "Unknown"})", "unknown: its node does not answer"},
       // kstatus takes a failed Pod for done.
       {R"("status": {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."})",
        "failed for good: it failed: Evicted: The node was low on resource: memory."},
       {R"("status": {"phase": "Failed", "containerStatuses": [{"name": "main", "state": {"terminated":
           {"exitCode": 3, "reason": "Error"}}}]})",
        "failed for good: it failed: container main ended with exit code 3"},
       // kstatus fails after 15 s of this; a cluster autoscaler needs longer.
       {R"("status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason":
           "Unschedulable", "message": "0/3 nodes are available: 3 Insufficient cpu."}]})",
        "in progress: it is not scheduled: Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."},
       {R"("status": {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 4, "state":
           {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}}]})",
        "failed: it is waiting: CrashLoopBackOff (container main): container main ended with exit code 1, after 4 "
        "restarts"},
       {R"("spec": {"containers": [{"name": "main", "image": "Web:1"}]}, "status": {"phase": "Pending",
           "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "InvalidImageName"}}}]})",
        "failed for good: it is waiting: InvalidImageName (Web:1)"},
       {"", "in progress: it has not been seen by the scheduler yet"},
       {R"("status": {"conditions": [{"type": "Ready", "status": "True"}]})",
        "in progress: its phase is not Running yet"}});
}

}  // namespace
}  // namespace fairlead::readiness

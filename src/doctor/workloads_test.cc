// Troubles of workloads, pods, Jobs and Services.
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

using testing::IsEmpty;

TEST_F(DoctorTest, WorkloadNotReady) {
  add(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, creationTimestamp: "2030-02-01T00:00:00Z"}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}}}
status: {observedGeneration: 1, replicas: 1, updatedReplicas: 1}
---
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: default
  labels: {app: web}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5, uid: u2, controller: true}]
spec: {containers: [{name: web, image: "web:typo"}]}
status: {phase: Pending, containerStatuses: [{name: web, ready: false, state: {waiting: {reason: ImagePullBackOff}}}]}
)");
  EXPECT_EQ(only(),
            "error workload-not-ready: Deployment default/web is not ready: 0 of 1 replica is ready\n"
            "because pod web-1 is waiting: ImagePullBackOff (web:typo)\n"
            "next kubectl -n default describe pod web-1");
}

TEST_F(DoctorTest, AWorkloadThatHasJustBegunIsNoFinding) {
  add(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, creationTimestamp: "2030-02-28T23:58:00Z"}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}}}
status: {observedGeneration: 1}
)");
  EXPECT_THAT(found(), IsEmpty());
  object("Deployment", "web").make("metadata").make("creationTimestamp") = "2030-02-28T23:50:00Z";
  EXPECT_EQ(only(),
            "error workload-not-ready: Deployment default/web is not ready: 0 of 1 replica is created\n"
            "because none of its pods exists yet\n"
            "next kubectl -n default describe deployment web");
}

TEST_F(DoctorTest, PodNotReady) {
  add(R"(
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: default, creationTimestamp: "2030-02-01T00:00:00Z"}
spec: {containers: [{name: a, image: a}]}
status:
  phase: Pending
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/1 nodes are available"}]
)");
  Findings all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "pod-not-ready");
  EXPECT_EQ(all[0].severity, Severity::error);
  EXPECT_EQ(all[0].next, "kubectl -n default describe pod alone");
}

TEST_F(DoctorTest, JobFailed) {
  add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: cert-gen, namespace: operator, annotations: {helm.sh/hook: pre-install}}
status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: too often}]}
)");
  EXPECT_EQ(only(),
            "warning job-failed: Job operator/cert-gen has failed\n"
            "because Job failed: BackoffLimitExceeded: too often\n"
            "blocks the Helm release that it is a hook of (pre-install): install or upgrade it again\n"
            "next kubectl -n operator logs job/cert-gen --all-containers");
}

TEST_F(DoctorTest, OfACronJobOnlyTheNewestJobCounts) {
  constexpr std::string_view kJob = R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: {}
  namespace: default
  creationTimestamp: "{}"
  ownerReferences: [{{kind: CronJob, name: nightly, uid: c1, controller: true}}]
status: {{conditions: [{{type: {}, status: "True"}}]}}
)";
  add(fmt::format(fmt::runtime(kJob), "one", "2030-02-01T00:00:00Z", "Failed"));
  EXPECT_EQ(found().size(), 1u);
  add(fmt::format(fmt::runtime(kJob), "two", "2030-02-02T00:00:00Z", "Complete"));
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, ServiceSelectsNothing) {
  add("{apiVersion: v1, kind: Service, metadata: {name: lost, namespace: default}, spec: {selector: {app: lost}}}");
  EXPECT_EQ(only(),
            "info service-selects-nothing: Service default/lost selects no pods\n"
            "because service default/lost has no endpoints\n"
            "because no pod has the labels that it selects: app=lost\n"
            "next kubectl -n default describe service lost");
}

TEST_F(DoctorTest, AServiceSelectsPodsWithAllOfItsLabels) {
  add(R"(
apiVersion: v1
kind: Service
metadata: {name: web, namespace: a}
spec: {selector: {app: web, tier: front}}
)");
  constexpr std::string_view kDaemonSet = R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: {}, namespace: {}, generation: 1}}
spec: {{template: {{metadata: {{labels: {{{}}}}}}}}}
status: {{observedGeneration: 1, desiredNumberScheduled: 0}}
)";
  add(fmt::format(fmt::runtime(kDaemonSet), "one", "a", "app: web"));
  add(fmt::format(fmt::runtime(kDaemonSet), "two", "a", "tier: front"));
  add(fmt::format(fmt::runtime(kDaemonSet), "other", "b", "app: web, tier: front"));
  EXPECT_THAT(only(), testing::StartsWith("info service-selects-nothing: Service a/web selects no pods"));
  add(fmt::format(fmt::runtime(kDaemonSet), "web", "a", "app: web, tier: front, more: labels"));
  EXPECT_THAT(found(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::doctor

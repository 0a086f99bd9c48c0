// Troubles of workloads, pods, Jobs and Services.
#include "doctor/checks.h"
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
  // Whoever asks about the pod is told the same.
  Findings about = about_objects(snapshot(), findings(), {object("Pod", "web-1")}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "workload-not-ready");
}

TEST_F(DoctorTest, APodWhoseOwnerIsUnknownIsFoundIfItIsNamed) {
  add(R"(
apiVersion: v1
kind: Pod
metadata:
  name: odd-1
  namespace: default
  creationTimestamp: "2030-02-01T00:00:00Z"
  ownerReferences: [{apiVersion: example.com/v1, kind: Runner, name: odd, uid: u7, controller: true}]
spec: {containers: [{name: odd, image: odd}]}
status:
  phase: Running
  containerStatuses: [{name: odd, ready: false, restartCount: 9, state: {waiting: {reason: CrashLoopBackOff}}}]
)");
  EXPECT_THAT(found(), IsEmpty());
  Findings about = about_objects(snapshot(), findings(), {object("Pod", "odd-1")}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "pod-not-ready");
}

TEST_F(DoctorTest, AnObjectThatIsNotReadyIsFoundIfItIsNamed) {
  add(R"(
apiVersion: v1
kind: Event
metadata: {name: data.1, namespace: default}
type: Warning
reason: ProvisioningFailed
message: storageclass.storage.k8s.io "fast" not found
involvedObject: {apiVersion: v1, kind: PersistentVolumeClaim, name: data, namespace: default}
lastTimestamp: "2030-02-28T23:59:00Z"
)");
  Json claim = *Json::parse(R"({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
      "metadata": {"name": "data", "namespace": "default", "creationTimestamp": "2030-02-01T00:00:00Z"},
      "spec": {"storageClassName": "fast"}, "status": {"phase": "Pending"}})");
  Findings about = about_objects(snapshot(), findings(), {claim}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "object-not-ready");
  EXPECT_EQ(about[0].severity, Severity::warning);
  EXPECT_THAT(about[0].causes,
              testing::ElementsAre("ProvisioningFailed: storageclass.storage.k8s.io \"fast\" not found"));
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

TEST_F(DoctorTest, JobStuck) {
  add(R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: cert-gen
  namespace: operator
  uid: j1
  creationTimestamp: "2030-02-28T23:59:30Z"
  annotations: {helm.sh/hook: pre-install}
spec: {selector: {matchLabels: {job: cert-gen}}}
status: {startTime: "2030-02-28T23:59:30Z", active: 1}
---
apiVersion: v1
kind: Pod
metadata:
  name: cert-gen-1
  namespace: operator
  labels: {job: cert-gen}
  ownerReferences: [{kind: Job, name: cert-gen, uid: j1, controller: true}]
spec: {containers: [{name: kubectl, image: "bitnami/kubectl:latest"}]}
status: {phase: Pending, containerStatuses: [{name: kubectl, ready: false, state: {waiting: {reason: ImagePullBackOff}}}]}
)");
  EXPECT_EQ(only(),
            "warning job-stuck: Job operator/cert-gen does not run\n"
            "because pod cert-gen-1 is waiting: ImagePullBackOff (bitnami/kubectl:latest)\n"
            "blocks the Helm release that it is a hook of (pre-install): helm waits for it\n"
            "next kubectl -n operator describe pod cert-gen-1");
  set(object("Pod", "cert-gen-1"), {"status"},
      R"({"phase": "Running", "containerStatuses": [{"name": "kubectl", "ready": true, "state": {"running": {}}}]})");
  EXPECT_THAT(found(), IsEmpty());
  set(object("Pod", "cert-gen-1"), {"status"},
      R"({"phase": "Pending", "initContainerStatuses": [{"name": "load", "state": {"running": {}}}],
          "containerStatuses": [{"name": "kubectl", "state": {"waiting": {"reason": "PodInitializing"}}}]})");
  EXPECT_THAT(found(), IsEmpty()) << "what an init container loads may take long";
  remove("Pod", "cert-gen-1");
  EXPECT_THAT(found(), IsEmpty()) << "it has just begun";
  object("Job", "cert-gen").make("metadata").make("creationTimestamp") = "2030-02-28T23:50:00Z";
  EXPECT_THAT(found(), testing::ElementsAre("warning job-stuck"));
  set(object("Job", "cert-gen"), {"status"}, R"({"conditions": [{"type": "Complete", "status": "True"}]})");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(DoctorTest, AJobWhosePodsCannotBeSeenIsNotCalledStuck) {
  add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: load, namespace: default, uid: j1, creationTimestamp: "2030-02-28T00:00:00Z"}
spec: {selector: {matchLabels: {job: load}}}
status: {startTime: "2030-02-28T00:00:00Z", active: 1}
)");
  EXPECT_EQ(found_by(check_jobs, {"Job", "Pod"}), 1U);
  EXPECT_EQ(found_by(check_jobs, {"Job"}), 0U);
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

TEST_F(DoctorTest, WhatAServiceSelectsIsNotKnownWithoutAllPodsAndEndpoints) {
  add("{apiVersion: v1, kind: Service, metadata: {name: lost, namespace: default}, spec: {selector: {app: lost}}}");
  EXPECT_EQ(found_by(check_services, {"Pod", "EndpointSlice"}), 1U);
  EXPECT_EQ(found_by(check_services, {"EndpointSlice"}), 0U);
  EXPECT_EQ(found_by(check_services, {"Pod"}), 0U);
}

}  // namespace
}  // namespace fairlead::doctor

// Workloads, Services and rights.
#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {

std::vector<Cause> causes_of_workloads() {
  return {
      {.code = "workload-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {sandbox.fairlead.dev/fail: image-pull}}
    spec: {containers: [{name: web, image: web}]}
)");
             on.pass(minutes(1));
           }},
      {.code = "object-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], storageClassName: none, resources: {requests: {storage: 1Gi}}}
)");
             on.pass(minutes(10));
           },
       .subject = {.object = "persistentvolumeclaim/data"}},
      {.code = "pod-not-ready",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Pod
metadata: {name: alone, namespace: default, annotations: {sandbox.fairlead.dev/fail: unschedulable}}
spec: {containers: [{name: alone, image: alone}]}
)");
             on.pass(minutes(10));
           }},
      {.code = "job-failed",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: make-certificate, namespace: operator, annotations: {helm.sh/hook: pre-install}}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {sandbox.fairlead.dev/exit-code: "1"}}
    spec: {restartPolicy: Never, containers: [{name: make, image: make}]}
)");
             on.pass(minutes(1));
           }},
      {.code = "job-stuck",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: make-certificate, namespace: operator, annotations: {helm.sh/hook: pre-install}}
spec:
  template:
    metadata: {annotations: {sandbox.fairlead.dev/fail: image-pull}}
    spec: {restartPolicy: Never, containers: [{name: make, image: make}]}
)");
             on.pass(minutes(1));
           }},
      {.code = "service-selects-nothing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Service
metadata: {name: lost, namespace: default}
spec: {selector: {app: lost}, ports: [{port: 80}]}
)");
             on.pass(minutes(10));
           }},
      {.code = "access-denied",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: v1
kind: Pod
metadata:
  name: controller
  namespace: default
  annotations:
    sandbox.fairlead.dev/fail: crash-loop
    sandbox.fairlead.dev/logs: >-
      pods is forbidden: User "system:serviceaccount:default:default" cannot list resource "pods" in API group "" at the
      cluster scope
spec: {containers: [{name: main, image: controller}]}
)");
             on.pass(minutes(1));
           },
       .also = {"pod-not-ready"}},
      {.code = "binding-role-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: read, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
subjects: [{kind: ServiceAccount, name: default, namespace: default}]
)");
           }},
      {.code = "binding-account-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: read}
rules: [{apiGroups: [''], resources: [pods], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: read}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
)");
           }},
      {.code = "workload-account-missing",
       .make =
           [](HealthyCluster& on) {
             on.add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: inject, namespace: default}
spec:
  template:
    spec: {restartPolicy: Never, serviceAccountName: gone, containers: [{name: x, image: x}]}
)");
             on.pass(minutes(1));
           }},
  };
}

}  // namespace fairlead::doctor

// Missing rights, ServiceAccounts and roles, and what Warning Events tell.
#include "doctor/doctor_testing.h"
#include "doctor/internal/failing_containers.h"
#include "doctor/internal/warnings.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kAccess = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: hook, namespace: operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: read, namespace: operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hook, namespace: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: read}
subjects: [{kind: ServiceAccount, name: hook, namespace: operator}, {kind: User, name: ann}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "system:controller:x", labels: {kubernetes.io/bootstrapping: rbac-defaults}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: none}
subjects: [{kind: ServiceAccount, name: none, namespace: kube-system}]
)";

class AccessTest : public DoctorTest {
 protected:
  AccessTest() {
    add(kAccess);
    set(object("Deployment", "hook"), {"spec", "template", "spec", "serviceAccountName"}, R"("hook")");
  }
  void warn(std::string_view time, std::string_view message) {
    Json event(Json::Object{{"apiVersion", "v1"}, {"kind", "Event"}, {"type", "Warning"}, {"reason", "FailedCreate"}});
    event.make("metadata") = Json::Object{{"name", fmt::format("e{}", objects_.size())}, {"namespace", "operator"}};
    event.make("involvedObject") = Json::Object{
        {"apiVersion", "apps/v1"}, {"kind", "ReplicaSet"}, {"namespace", "operator"}, {"name", "hook-7c9f"}};
    event.make("lastTimestamp") = time;
    event.make("message") = message;
    objects_.push_back(std::move(event));
  }
};

TEST_F(AccessTest, NothingIsWrong) { EXPECT_THAT(found(), IsEmpty()); }

TEST_F(AccessTest, BindingRoleMissing) {
  remove("Role", "read");
  EXPECT_EQ(only(),
            "warning binding-role-missing: RoleBinding operator/hook grants nothing\n"
            "because Role read, which it names, does not exist\n"
            "next kubectl -n operator get rolebinding hook -o yaml");
  set(object("RoleBinding", "hook"), {"roleRef", "kind"}, R"("ClusterRole")");
  EXPECT_THAT(findings().at(0).causes, ElementsAre("ClusterRole read, which it names, does not exist"));
}

TEST_F(AccessTest, BindingAccountMissing) {
  set(object("RoleBinding", "hook"), {"subjects"}, R"([{"kind": "ServiceAccount", "name": "other"}])");
  EXPECT_EQ(only(),
            "info binding-account-missing: RoleBinding operator/hook is for a ServiceAccount that does not exist: "
            "operator/other\n"
            "because it grants them nothing, and would grant it to whoever creates them\n"
            "next kubectl -n operator get rolebinding hook -o yaml");
}

TEST_F(AccessTest, WorkloadAccountMissing) {
  set(object("Deployment", "hook"), {"spec", "template", "spec", "serviceAccountName"}, R"("gone")");
  set(object("Deployment", "hook"), {"status"}, R"({"observedGeneration": 1})");
  remove("ValidatingWebhookConfiguration", "widgets");
  EXPECT_EQ(only(),
            "error workload-account-missing: no pod of Deployment operator/hook can be created\n"
            "because ServiceAccount operator/gone, which its pods use, does not exist\n"
            "next kubectl -n operator create serviceaccount gone, or apply what should have made it");
}

TEST_F(AccessTest, TheAccountOfAJobIsMissing) {
  add(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: inject, namespace: operator, creationTimestamp: "2030-02-01T00:00:00Z", annotations: {helm.sh/hook: post-install}}
spec: {selector: {matchLabels: {job: inject}}, template: {spec: {serviceAccountName: gone}}}
status: {startTime: "2030-02-01T00:00:00Z"}
)");
  EXPECT_EQ(only(),
            "error workload-account-missing: no pod of Job operator/inject can be created\n"
            "because ServiceAccount operator/gone, which its pods use, does not exist\n"
            "next kubectl -n operator create serviceaccount gone, or apply what should have made it");
  set(object("Job", "inject"), {"status"}, R"({"conditions": [{"type": "Complete", "status": "True"}]})");
  EXPECT_THAT(found(), IsEmpty()) << "it needs the account no more";
}

TEST_F(AccessTest, AccessDenied) {
  constexpr std::string_view kMessage =
      "pods is forbidden: User \"system:serviceaccount:operator:hook\" cannot list resource \"pods\" in API group \"\" "
      "in the namespace \"team\"";
  warn("2030-02-28T20:00:00Z", kMessage);
  EXPECT_THAT(found(), IsEmpty()) << "that was hours ago";
  warn("2030-02-28T23:50:00Z", kMessage);
  warn("2030-02-28T23:40:00Z",
       "leases.coordination.k8s.io \"x\" is forbidden: User \"system:serviceaccount:operator:hook\" cannot update "
       "resource \"leases\" in API group \"coordination.k8s.io\" at the cluster scope");
  warn("2030-02-28T23:50:00Z", "pods \"x\" is forbidden: exceeded quota: small");
  EXPECT_EQ(only(),
            "warning access-denied: ServiceAccount operator/hook may not list pods in team and update "
            "leases.coordination.k8s.io\n"
            "because an Event of Deployment operator/hook says so: FailedCreate: pods is forbidden: User "
            "\"system:serviceaccount:operator:hook\" cannot list resource \"pods\" in API group \"\" in the namespace "
            "\"team\"\n"
            "next kubectl auth can-i list pods --as=system:serviceaccount:operator:hook -n team");
}

// A Deployment in a crash loop, whose log says why.
TEST_F(AccessTest, AContainerSaysInItsLogWhatItMayNot) {
  set(object("Pod", "hook-1"), {"spec", "serviceAccountName"}, R"("hook")");
  set(object("Pod", "hook-1"), {"status"},
      R"({"phase": "Running", "containerStatuses": [{"name": "hook", "ready": false, "restartCount": 3,
          "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": {"exitCode": 1}}}]})");
  set(object("Deployment", "hook"), {"status"}, R"({"observedGeneration": 1, "replicas": 2, "updatedReplicas": 2})");
  set(object("Deployment", "hook"), {"spec", "selector"}, R"({"matchLabels": {"app": "hook"}})");
  Snapshot cluster = snapshot();
  std::vector<readiness::FailedContainer> failing = failing_containers(cluster);
  ASSERT_EQ(failing.size(), 1u);
  EXPECT_EQ(failing[0].pod, "hook-1");
  EXPECT_EQ(failing[0].container, "hook");
  cluster.logs.push_back(
      {.pod = key_of(object("Pod", "hook-1")),
       .container = "hook",
       .text =
           "starting with password hunter2\n"
           R"({"level":"error","error":"leases.coordination.k8s.io is forbidden: User \"system:serviceaccount:operator:hook\" cannot list resource \"leases\" in API group \"coordination.k8s.io\" at the cluster scope"})"
           "\npods is forbidden: User \"admin\" cannot list resource \"pods\" in API group \"\"\n"});
  Findings all = check_all(cluster);
  auto denied = std::ranges::find(all, "access-denied", &Finding::code);
  ASSERT_NE(denied, all.end());
  EXPECT_EQ(denied->what, "ServiceAccount operator/hook may not list leases.coordination.k8s.io");
  EXPECT_THAT(denied->causes, ElementsAre("container hook of Pod operator/hook-1 says so in its log"));
  EXPECT_EQ(denied->next,
            "kubectl auth can-i list leases.coordination.k8s.io --as=system:serviceaccount:operator:hook "
            "--all-namespaces");
  EXPECT_EQ(std::ranges::count(all, "access-denied", &Finding::code), 1) << "nobody speaks for another account";
  EXPECT_EQ(std::ranges::count(all, "workload-not-ready", &Finding::code), 1) << "it may lack more than that";
  Result<Findings> about = about_webhook(cluster, all, "v.widgets.example.com");
  ASSERT_TRUE(about);
  EXPECT_EQ(std::ranges::count(*about, "access-denied", &Finding::code), 1);
}

TEST_F(AccessTest, NoContainerFailsInAHealthyCluster) { EXPECT_THAT(failing_containers(snapshot()), IsEmpty()); }

constexpr std::string_view kFailedCall =
    "Error creating: Internal error occurred: failed calling webhook \"v.widgets.example.com\": failed to call "
    "webhook: "
    "Post \"https://hook.operator.svc:443/v?timeout=10s\": dial tcp 10.0.0.1:443: connect: connection refused";

TEST_F(AccessTest, WebhookRefusedObjects) {
  warn("2030-02-28T23:50:00Z", kFailedCall);
  EXPECT_EQ(
      only(),
      "warning webhook-refused-objects: webhook v.widgets.example.com (ValidatingWebhookConfiguration widgets) made "
      "requests fail, the last at 2030-02-28T23:50:00Z\n"
      "because FailedCreate: " +
          std::string(kFailedCall) +
          "\nblocks Deployment operator/hook\n"
          "next fairlead doctor webhook widgets; fairlead wait webhook/widgets proves that it works");
  remove("ValidatingWebhookConfiguration", "widgets");
  EXPECT_THAT(found(), IsEmpty()) << "a webhook that is gone refuses nothing";
}

TEST_F(AccessTest, VictimsOfAnOutageAreToldWithIt) {
  warn("2030-02-28T23:50:00Z", kFailedCall);
  remove("Service", "hook");
  Findings all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "webhook-service-missing");
  EXPECT_THAT(all[0].causes,
              ElementsAre("service operator/hook does not exist",
                          "requests for Deployment operator/hook failed, the last at 2030-02-28T23:50:00Z"));
}

TEST(Denials, OtherTextsAreNone) {
  for (std::string_view text :
       {"", "is forbidden: User \"", "is forbidden: User \"a\" cannot b",
        "is forbidden: User \"a\" cannot b resource \"c",
        "is forbidden: User \"a\" cannot b resource \"c; reboot\" in API group \"\"",
        "is forbidden: User \"`a`\" cannot b resource \"c\" in API group \"\"",
        "is forbidden: User \"a\" cannot get path \"/metrics\"", "x is forbidden: violates PodSecurity"})
    EXPECT_FALSE(read_denial(text)) << text;
}

}  // namespace
}  // namespace fairlead::doctor

// Deletions that do not end.
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(DoctorTest, DeletionStuck) {
  add(R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: default
  deletionTimestamp: "2030-02-28T23:58:00Z"
  finalizers: [acme.dev/cleanup]
)");
  EXPECT_THAT(found(), IsEmpty()) << "two minutes are not long";
  object("PersistentVolumeClaim", "data").make("metadata").make("deletionTimestamp") = "2030-02-28T00:00:00Z";
  EXPECT_EQ(
      only(),
      "warning deletion-stuck: PersistentVolumeClaim default/data has been deleted since 2030-02-28T00:00:00Z, and is "
      "still there\n"
      "because finalizer acme.dev/cleanup has not been removed\n"
      "because no workload with a matching name was found: its controller may be uninstalled\n"
      "next reinstall the controller, or fairlead delete -n default PersistentVolumeClaim/data "
      "--force-finalizers");
}

TEST_F(DoctorTest, ANamespaceWaitsForWhatIsInIt) {
  add(R"(
apiVersion: v1
kind: Namespace
metadata: {name: old, deletionTimestamp: "2030-02-28T00:00:00Z"}
spec: {finalizers: [kubernetes]}
status:
  phase: Terminating
  conditions:
  - {type: NamespaceContentRemaining, status: "True", message: "Some resources are remaining: services. has 1 resource instances"}
---
apiVersion: v1
kind: Service
metadata:
  name: web
  namespace: old
  deletionTimestamp: "2030-02-28T23:59:00Z"
  finalizers: [acme.dev/cleanup]
)");
  Findings all = findings();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].severity, Severity::error);
  EXPECT_THAT(
      all[0].causes,
      ElementsAre("remaining in it: 1 services", "Service old/web: finalizer acme.dev/cleanup has not been removed",
                  "no workload with a matching name was found: its controller may be uninstalled"));
}

}  // namespace
}  // namespace fairlead::doctor

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

TEST_F(DoctorTest, ADeletionOfAnyKindIsFoundIfTheObjectIsNamed) {
  Json widget = *Json::parse(R"({"apiVersion": "example.com/v1", "kind": "Widget",
      "metadata": {"name": "w", "namespace": "default", "deletionTimestamp": "2030-02-28T23:59:00Z",
                   "finalizers": ["acme.dev/cleanup"]}})");
  Findings about = about_objects(snapshot(), findings(), {widget}, true);
  ASSERT_EQ(about.size(), 1u);
  EXPECT_EQ(about[0].code, "deletion-stuck");
  EXPECT_EQ(about[0].what, "Widget default/w has been deleted since 2030-02-28T23:59:00Z, and is still there");
  EXPECT_EQ(about[0].causes.front(), "finalizer acme.dev/cleanup has not been removed");
  EXPECT_THAT(about_objects(snapshot(), findings(), {widget}, false), IsEmpty()) << "a manifest is not the object";
  widget.make("metadata").make("deletionTimestamp") = "2030-02-28T23:59:58Z";
  EXPECT_THAT(about_objects(snapshot(), findings(), {widget}, true), IsEmpty()) << "it has just been deleted";
}

}  // namespace
}  // namespace fairlead::doctor

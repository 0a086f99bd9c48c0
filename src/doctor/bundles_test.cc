// Bundles whose inventory and objects disagree.
#include "doctor/internal/bundles.h"

#include "base/base64.h"
#include "doctor/doctor_testing.h"
#include "history/compress.h"

namespace fairlead::doctor {
namespace {

using testing::IsEmpty;

// Bundle shop in namespace default has the Deployment of the operator, and a ConfigMap that was listed as its member.
class BundlesTest : public DoctorTest {
 protected:
  BundlesTest() {
    add(R"(
apiVersion: v1
kind: ConfigMap
metadata:
  name: fairlead-shop
  namespace: default
  labels: {applyset.kubernetes.io/id: x}
  annotations:
    applyset.kubernetes.io/tooling: fairlead/v0.1.0
    applyset.kubernetes.io/contains-group-kinds: ConfigMap,Deployment.apps
    applyset.kubernetes.io/additional-namespaces: operator
)");
    label(object("Deployment", "hook"), "shop", "shop");
  }
  static std::string id_of(std::string_view bundle) {
    return inventory::BundleName{.name = std::string(bundle), .home = "default"}.label_value();
  }
  // Makes an object look as if one bundle had applied it, with the label of another or the same.
  static void label(Json& object, std::string_view label, std::string_view applier) {
    object.make("metadata").make("labels").make("applyset.kubernetes.io/part-of") = id_of(label);
    Json entry(Json::Object{{"manager", fmt::format("fairlead/default/{}", applier)}, {"operation", "Apply"}});
    object.make("metadata").make("managedFields") = Json::Array{std::move(entry)};
  }
  Json& record() { return object("ConfigMap", "fairlead-shop"); }

  // Keeps the objects as the newest revision of the bundle.
  void keep_revision(std::string_view yaml) {
    std::vector<history::KeptObject> kept;
    manifest::Bundle bundle = manifest::bundle_of(yaml);
    for (const object::Object& one : bundle.objects) kept.push_back(history::kept(one, "created", false, "salt"));
    history::Revision revision{.number = 3, .how = "done", .chunks = 1};
    record().make("metadata").make("annotations").make("fairlead.dev/revisions") = history::dump({revision});
    Json secret(Json::Object{{"apiVersion", "v1"}, {"kind", "Secret"}});
    secret.make("metadata") = Json::Object{{"name", "fairlead-shop.revision-3"}, {"namespace", "default"}};
    secret.make("data").make("manifests") = to_base64(history::compress(history::dump(3, kept).text));
    objects_.push_back(std::move(secret));
  }
};

TEST_F(BundlesTest, NothingIsWrong) {
  EXPECT_THAT(found(), IsEmpty());
  keep_revision("{apiVersion: apps/v1, kind: Deployment, metadata: {name: hook, namespace: operator}}");
  EXPECT_THAT(found(), IsEmpty());
}

TEST_F(BundlesTest, BundleInventoryMissing) {
  remove("ConfigMap", "fairlead-shop");
  EXPECT_EQ(only(),
            "warning bundle-inventory-missing: objects of bundle shop, namespace default have no inventory: Deployment "
            "operator/hook\n"
            "because ConfigMap default/fairlead-shop does not exist, so nobody prunes or deletes them\n"
            "next fairlead apply --name shop -n default … makes it again, or kubectl delete them");
}

TEST_F(BundlesTest, BundleNotCovered) {
  record().make("metadata").make("annotations").make("applyset.kubernetes.io/contains-group-kinds") = "ConfigMap";
  EXPECT_EQ(only(),
            "warning bundle-not-covered: the inventory of bundle shop, namespace default does not cover Deployment "
            "operator/hook\n"
            "because they have its label, and their kind or namespace is not in the inventory: they are not pruned or "
            "deleted\n"
            "next apply the bundle again: fairlead apply --name shop -n default …");
  record().make("metadata").make("annotations").make("fairlead.dev/claim") = "{}";
  EXPECT_THAT(found(), IsEmpty()) << "a run is working on it";
}

TEST_F(BundlesTest, BundleLabelDiffers) {
  label(object("Deployment", "hook"), "shop", "other");
  EXPECT_EQ(
      only(),
      "warning bundle-label-differs: Deployment operator/hook has the label of bundle shop, namespace default, and "
      "was applied by bundle other, namespace default\n"
      "because neither bundle prunes or deletes it\n"
      "next fairlead apply --name other -n default … writes its label again");
}

TEST_F(BundlesTest, BundleMembersMissing) {
  keep_revision(
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: hook, namespace: operator}}\n---\n"
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: default}}\n---\n"
      "{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: default, annotations: {helm.sh/hook: "
      "pre-install}}}\n---\n"
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: default}}\n");
  EXPECT_EQ(only(),
            "warning bundle-members-missing: bundle shop, namespace default lacks Deployment default/web\n"
            "because revision 3 applied it, and somebody has deleted it since\n"
            "next fairlead apply --name shop -n default … creates what is missing");
  Snapshot listed = snapshot();
  listed.saw_members("", "ConfigMap");
  EXPECT_EQ(check_all(listed).at(0).what,
            "bundle shop, namespace default lacks Deployment default/web and ConfigMap default/settings");
}

}  // namespace
}  // namespace fairlead::doctor

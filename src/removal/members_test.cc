#include "removal/members.h"

#include <gmock/gmock.h>

#include "inventory/inventory.h"
#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using How = Ending::How;
using testing::HasSubstr;

class MembersTest : public RemovalTest {
 protected:
  // A bundle shop in namespace team, with one ConfigMap.
  void have_shop() {
    put("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n");
    begin();
    auto opened =
        loop_.run(inventory::Inventory::open(client_, discovery_, {.name = "shop", .ns = "team", .holder = "test"}));
    ASSERT_TRUE(opened);
    ASSERT_TRUE(loop_.run((*opened)->claim(
        {{.key = {"", "ConfigMap", "team", "a"}, .version = "v1"},
         {.key = {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"}, .version = "v1"}})));
    ASSERT_TRUE(loop_.run((*opened)->release()));
    label_ = fmt::format("labels: {{applyset.kubernetes.io/part-of: {}}}", (*opened)->label_value());
    put_as_shop(config_map("a", label_, "team"));
  }
  // As a run of the bundle applies it.
  void put_as_shop(const std::string& yaml) {
    manifest::Bundle bundle = bundle_of(yaml);
    for (const object::Object& object : bundle.objects) {
      auto resource = loop_.run(discovery_.find(object.group(), object.version(), object.kind()));
      ASSERT_TRUE(resource && *resource);
      ASSERT_TRUE(loop_.run(admin_.apply(**resource, object.ns(), object.name(), object.value(),
                                         {{.field_manager = "fairlead/team/shop"}})));
    }
  }
  // Nobody answers it, and it sees every ConfigMap.
  void have_broken_guard(std::string_view metadata) {
    put_as_shop(fmt::format(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n"
        "metadata: {{name: guard{}{}}}\n"
        "webhooks:\n"
        "- name: guard.example.com\n"
        "  clientConfig: {{caBundle: QUFBQQ==, service: {{name: nobody, namespace: team}}}}\n"
        "  rules: [{{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}}]\n"
        "  failurePolicy: Fail\n"
        "  sideEffects: None\n"
        "  admissionReviewVersions: [v1]\n",
        metadata.empty() ? "" : ", ", metadata));
    pass(std::chrono::seconds(5));
    begin();
  }
  Ending remove_shop() {
    return loop_.run(take_out_bundle(client_, discovery_, "shop", {.default_namespace = "team"}, journal_, nullptr));
  }
  Json record() { return get("/api/v1/namespaces/team/configmaps/fairlead-shop"); }

  std::string label_;
};

TEST_F(MembersTest, ABundleWithANameGoesWithItsInventory) {
  have_shop();
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_TRUE(record().is_null());
  EXPECT_EQ(reports(remove_shop()),
            "error: there is no bundle shop in namespace team\n"
            "  next      kubectl get configmaps -A -l applyset.kubernetes.io/id, which lists the bundles\n");
}

TEST_F(MembersTest, OnlyWhatTheBundleAppliedGoes) {
  have_shop();
  put(config_map("copy", label_, "team"));
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_FALSE(get("/api/v1/namespaces/team/configmaps/copy").is_null());
  EXPECT_THAT(events(), HasSubstr("ConfigMap team/copy is left alone: it has the bundle's label, but the bundle did "
                                  "not apply it"));
}

TEST_F(MembersTest, ABundleIsNamedWhereItsObjectsAreRefused) {
  have_shop();
  EXPECT_EQ(reports(remove(config_map("a", "", "team"))),
            "error: ConfigMap team/a is not removed\n"
            "  because   it belongs to bundle shop, namespace team\n"
            "  from      bundle.yaml:2\n"
            "  next      fairlead delete -n team --name shop removes that bundle; --force removes the object all the "
            "same\n");
}

TEST_F(MembersTest, ABrokenWebhookOfItsOwnDoesNotKeepABundleIn) {
  have_shop();
  have_broken_guard(label_);
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\nValidatingWebhookConfiguration guard gone\n");
  EXPECT_TRUE(record().is_null());
  EXPECT_THAT(events(), HasSubstr("the bundle is not claimed, and nobody else is kept out of it: webhook "
                                  "guard.example.com"));
}

TEST_F(MembersTest, ABrokenWebhookOfOthersLeavesTheRecord) {
  have_shop();
  have_broken_guard("");
  Ending ending = remove_shop();
  EXPECT_EQ(ending.how, How::failed);
  EXPECT_EQ(states(ending), "ConfigMap team/a gone\n");
  EXPECT_FALSE(record().is_null());
  EXPECT_THAT(reports(ending), HasSubstr("error: the record of the bundle could not be claimed, and remains\n"));
  EXPECT_THAT(reports(ending),
              HasSubstr("  next      fairlead delete --name shop, once that webhook answers or is gone\n"));
}

}  // namespace
}  // namespace fairlead::removal

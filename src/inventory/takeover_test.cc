#include "inventory/takeover.h"

#include <gtest/gtest.h>

#include "inventory/applyset.h"
#include "inventory/membership.h"

namespace fairlead::inventory {
namespace {

const BundleName kShop{.name = "shop", .home = "default"};
const BundleName kOld{.name = "old", .home = "default"};

Successor shop() {
  return {
      .field_manager = kShop.field_manager(), .label_value = kShop.label_value(), .predecessors = {"fairlead", "me"}};
}

Json entry(std::string_view manager, std::string_view operation, std::string_view fields,
           std::string_view version = "apps/v1", std::string_view subresource = "") {
  Json out(Json::Object{{"manager", manager},
                        {"operation", operation},
                        {"apiVersion", version},
                        {"time", "2026-01-02T03:04:05Z"},
                        {"fieldsType", "FieldsV1"},
                        {"fieldsV1", *Json::parse(fields)}});
  if (!subresource.empty()) out.make("subresource") = subresource;
  return out;
}

Json object_with(Json::Array entries) {
  Json object(Json::Object{{"apiVersion", "apps/v1"}});
  object.make("metadata").make("managedFields") = std::move(entries);
  return object;
}

using Managers = std::vector<std::string>;
constexpr std::string_view kReplicas = R"({"f:spec":{"f:replicas":{}}})";
constexpr std::string_view kPaused = R"({"f:spec":{"f:paused":{}}})";
constexpr std::string_view kLastApplied =
    R"({"f:metadata":{"f:annotations":{"f:kubectl.kubernetes.io/last-applied-configuration":{}}}})";

TEST(Takeover, ToolsThatApplyOnTheirOwnSideGiveTheirFields) {
  EXPECT_EQ(former_managers(object_with({entry("kubectl-client-side-apply", "Update", kReplicas)}), shop()),
            Managers{"kubectl-client-side-apply"});
  EXPECT_EQ(former_managers(object_with({entry("terraform", "Update", kLastApplied)}), shop()), Managers{"terraform"});
  EXPECT_EQ(former_managers(object_with({entry("terraform", "Update", kReplicas)}), shop()), Managers());
  EXPECT_EQ(former_managers(object_with({entry("kubectl-edit", "Update", kReplicas)}), shop()), Managers());
  EXPECT_EQ(former_managers(object_with({entry("kubectl", "Apply", kReplicas)}), shop()), Managers());
}

TEST(Takeover, ToolsThatApplyOnTheirOwnSideGiveWayEvenIfTheObjectCannotBeRead) {
  EXPECT_TRUE(gives_way("kubectl-client-side-apply", Json(), shop()));
  EXPECT_TRUE(gives_way("me", Json(), shop()));
  EXPECT_FALSE(gives_way("kubectl-edit", Json(), shop()));
}

TEST(Takeover, PredecessorsGiveWhatTheyApplied) {
  EXPECT_EQ(former_managers(object_with({entry("fairlead", "Apply", kReplicas)}), shop()), Managers{"fairlead"});
  EXPECT_EQ(former_managers(object_with({entry("me", "Apply", kReplicas)}), shop()), Managers{"me"});
  EXPECT_EQ(former_managers(object_with({entry("me", "Update", kReplicas)}), shop()), Managers());
  EXPECT_EQ(former_managers(object_with({entry("me", "Apply", kReplicas, "apps/v1", "status")}), shop()), Managers());
  EXPECT_EQ(former_managers(object_with({entry(kShop.field_manager(), "Apply", kReplicas)}), shop()), Managers());
}

TEST(Takeover, HelmGivesTheObjectsOfItsReleases) {
  for (std::string_view operation : {"Update", "Apply"}) {
    Json object = object_with({entry("helm", operation, kReplicas)});
    EXPECT_EQ(former_managers(object, shop()), Managers());
    object.make("metadata").make("annotations").make("meta.helm.sh/release-name") = "web";
    EXPECT_EQ(former_managers(object, shop()), Managers{"helm"});
    EXPECT_FALSE(gives_way("helm", object, shop()));
  }
}

TEST(Takeover, AnotherBundleGivesWhatWasMovedFromIt) {
  Json object = object_with({entry(kOld.field_manager(), "Apply", kReplicas)});
  object.make("metadata").make("labels").make(kPartOfLabel) = kOld.label_value();
  EXPECT_EQ(former_managers(object, shop()), Managers());
  object.make("metadata").make("labels").make(kPartOfLabel) = kShop.label_value();
  EXPECT_EQ(former_managers(object, shop()), Managers{kOld.field_manager()});
}

TEST(Takeover, OthersKeepTheirsAndTheSuccessorHasBoth) {
  Json object = object_with({entry("kubectl-client-side-apply", "Update", kReplicas),
                             entry("kubectl-edit", "Update", R"({"f:data":{}})"),
                             entry(kShop.field_manager(), "Apply", kPaused)});
  Json after = managed_fields_after_takeover(object, shop());
  ASSERT_EQ(after.items().size(), 2u) << after.dump();
  EXPECT_EQ(after.items()[0]["manager"].string_or(""), kShop.field_manager());
  EXPECT_EQ(after.items()[0]["operation"].string_or(""), "Apply");
  EXPECT_EQ(after.items()[0]["fieldsV1"].dump(), R"({"f:spec":{"f:paused":{},"f:replicas":{}}})");
  EXPECT_EQ(after.items()[1]["manager"].string_or(""), "kubectl-edit");
}

// Each version has field names of its own, so that only the API server can put them together.
TEST(Takeover, AnotherVersionComesByItself) {
  Json object =
      object_with({entry("kubectl-client-side-apply", "Update", kReplicas, "apps/v1beta1"),
                   entry("me", "Apply", kReplicas, "apps/v1beta2"), entry(kShop.field_manager(), "Apply", kPaused)});
  Json after = managed_fields_after_takeover(object, shop());
  ASSERT_EQ(after.items().size(), 2u) << after.dump();
  EXPECT_EQ(after.items()[0]["manager"].string_or(""), kShop.field_manager());
  EXPECT_EQ(after.items()[0]["apiVersion"].string_or(""), "apps/v1beta1");
  EXPECT_EQ(after.items()[0]["fieldsV1"].dump(), kReplicas);
  EXPECT_EQ(after.items()[1]["manager"].string_or(""), "me");
}

// Fields in the object's own version can be united with the successor's own entry, which would be lost otherwise.
TEST(Takeover, TheVersionOfTheObjectComesFirst) {
  Json object = object_with({entry("kubectl-client-side-apply", "Update", kReplicas, "apps/v1beta1"),
                             entry("me", "Apply", kReplicas), entry(kShop.field_manager(), "Apply", kPaused)});
  Json after = managed_fields_after_takeover(object, shop());
  ASSERT_EQ(after.items().size(), 2u) << after.dump();
  EXPECT_EQ(after.items()[0]["manager"].string_or(""), kShop.field_manager());
  EXPECT_EQ(after.items()[0]["apiVersion"].string_or(""), "apps/v1");
  EXPECT_EQ(after.items()[0]["fieldsV1"].dump(), R"({"f:spec":{"f:paused":{},"f:replicas":{}}})");
  EXPECT_EQ(after.items()[1]["manager"].string_or(""), "kubectl-client-side-apply");
}

TEST(Takeover, WhatCannotBeReadIsLeftAlone) {
  Json object = object_with({Json("kubectl-client-side-apply")});
  EXPECT_EQ(former_managers(object, shop()), Managers());
  EXPECT_TRUE(managed_fields_after_takeover(object, shop()).is_null());
  EXPECT_TRUE(managed_fields_after_takeover(Json(), shop()).is_null());
}

TEST(Takeover, ThePatchNamesTheVersionThatItIsFor) {
  Json object = object_with({entry("kubectl-client-side-apply", "Update", kReplicas)});
  object.make("metadata").make("resourceVersion") = "7";
  Json patch = takeover_patch(object, shop());
  EXPECT_EQ(patch.item(0)["path"].string_or(""), "/metadata/managedFields");
  EXPECT_EQ(patch.item(0)["value"], managed_fields_after_takeover(object, shop()));
  EXPECT_EQ(patch.item(1).dump(), R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"})");
  EXPECT_TRUE(takeover_patch(object_with({}), shop()).is_null());
}

}  // namespace
}  // namespace fairlead::inventory

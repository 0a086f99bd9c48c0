#include "inventory/membership.h"

#include <gtest/gtest.h>

#include "inventory/applyset.h"

namespace fairlead::inventory {
namespace {

const BundleName kShop{.name = "shop", .home = "default"};

Json object_of(std::string_view label, std::string_view manager, std::string_view operation,
               std::string_view subresource = "") {
  Json object;
  Json& metadata = object.make("metadata");
  if (!label.empty()) metadata.make("labels").make(kPartOfLabel) = label;
  Json::Array entries;
  entries.emplace_back(
      Json::Object{{"manager", manager}, {"operation", operation}, {"subresource", std::string(subresource)}});
  metadata.make("managedFields") = std::move(entries);
  return object;
}

Identity shop() { return {.label_value = kShop.label_value(), .managers = {kShop.field_manager()}}; }

TEST(Membership, NeedsTheLabelAndAnApplyOfTheBundle) {
  std::string label = kShop.label_value(), manager = kShop.field_manager();
  EXPECT_EQ(membership(object_of(label, manager, "Apply"), shop()), Membership::member);
  EXPECT_EQ(membership(object_of("", manager, "Apply"), shop()), Membership::unlabelled);
  EXPECT_EQ(membership(object_of("applyset-other-v1", manager, "Apply"), shop()), Membership::unlabelled);
  EXPECT_EQ(membership(object_of(label, "kubectl", "Apply"), shop()), Membership::not_applied);
  EXPECT_EQ(membership(object_of(label, manager, "Update"), shop()), Membership::not_applied);
  EXPECT_EQ(membership(object_of(label, manager, "Apply", "status"), shop()), Membership::not_applied);
  EXPECT_EQ(membership(Json(), shop()), Membership::unlabelled);
  EXPECT_EQ(membership(object_of("", manager, "Apply"), {}), Membership::unlabelled);
}

TEST(Membership, WhatAControllerOwnsIsItsOwn) {
  Json object = object_of(kShop.label_value(), kShop.field_manager(), "Apply");
  object.make("metadata").make("ownerReferences") = Json::Array{Json::Object{{"kind", "Service"}}};
  EXPECT_EQ(membership(object, shop()), Membership::member);
  object.make("metadata").make("ownerReferences") =
      Json::Array{Json::Object{{"kind", "Service"}, {"controller", true}}};
  EXPECT_EQ(membership(object, shop()), Membership::controlled);
}

TEST(BundleName, IsReadFromFieldManagers) {
  EXPECT_EQ(BundleName::of_manager("fairlead/default/shop"), kShop);
  for (std::string_view other : {"", "fairlead", "fairlead/shop", "kubectl/default/shop"})
    EXPECT_FALSE(BundleName::of_manager(other)) << other;
}

TEST(BundleName, NamesTheOwnerOfAnObjectOnlyIfTheLabelAgrees) {
  EXPECT_EQ(owner_of(object_of(kShop.label_value(), "fairlead/default/shop", "Apply")), kShop);
  EXPECT_FALSE(owner_of(object_of(kShop.label_value(), "fairlead/default/other", "Apply")));
  EXPECT_FALSE(owner_of(object_of("", "fairlead/default/shop", "Apply")));
  EXPECT_EQ(kShop.text(), "bundle shop, namespace default");
}

}  // namespace
}  // namespace fairlead::inventory

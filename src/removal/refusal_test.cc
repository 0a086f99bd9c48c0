#include "removal/refusal.h"

#include <gtest/gtest.h>

#include "inventory/applyset.h"

namespace fairlead::removal {
namespace {

const inventory::BundleName kShop{.name = "shop", .home = "default"};
const inventory::BundleName kOther{.name = "other", .home = "team"};

inventory::Identity identity_of(const inventory::BundleName& bundle) {
  return {.label_value = bundle.label_value(), .managers = {bundle.field_manager()}};
}

// An object that a run of the bundle has applied.
Json applied_by(const inventory::BundleName& bundle) {
  Json object;
  object.make("metadata").make("labels").make(inventory::kPartOfLabel) = bundle.label_value();
  object.make("metadata").make("managedFields") =
      Json::Array{Json::Object{{"manager", bundle.field_manager()}, {"operation", "Apply"}}};
  return object;
}

std::string refusal(const object::Key& key, const Json& live, const std::optional<inventory::Identity>& bundle,
                    bool force = false, const Owners& owners = {}) {
  std::optional<Error> error = refusal_of(key, live, bundle, force, owners);
  if (!error) return "none";
  return error->cause()->message() + (error->next().empty() ? "" : "; next: " + error->next());
}

object::Key config_map_in(std::string ns) {
  return {.group = "", .kind = "ConfigMap", .ns = std::move(ns), .name = "a"};
}

TEST(Refusal, ABundleDoesNotTakeANamespaceOfKubernetesWithIt) {
  auto of_namespace = [](std::string name) {
    return refusal({.group = "", .kind = "Namespace", .ns = "", .name = std::move(name)}, applied_by(kShop),
                   identity_of(kShop));
  };
  EXPECT_EQ(of_namespace("shop"), "none");
  for (std::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"})
    EXPECT_EQ(of_namespace(std::string(name)), "it is a namespace of Kubernetes itself") << name;
}

TEST(Refusal, ABundleDeletesOnlyWhatItAppliedAndStillOwns) {
  const object::Key key = config_map_in("team");
  EXPECT_EQ(refusal(key, applied_by(kShop), identity_of(kShop)), "none");
  Json controlled = applied_by(kShop);
  controlled.make("metadata").make("ownerReferences") = Json::Array{Json::Object{{"controller", true}}};
  Json labelled = applied_by(kShop);
  labelled.make("metadata").make("managedFields") = Json::Array{};
  Json unlabelled = applied_by(kShop);
  unlabelled.make("metadata").make("labels") = Json::Object{};
  // Not even with --force.
  for (bool force : {false, true})
    for (const Json& live : {applied_by(kOther), controlled, labelled, unlabelled})
      EXPECT_EQ(refusal(key, live, identity_of(kShop), force), "it no longer belongs to the bundle") << live.dump();
}

TEST(Refusal, WhatBelongsToABundleIsDeletedByNameOnlyByForce) {
  const object::Key key = config_map_in("team");
  EXPECT_EQ(refusal(key, applied_by(kOther), std::nullopt),
            "it belongs to another bundle; next: --force deletes the object anyway");
  Owners owners{{kOther.label_value(), {.text = kOther.text(), .bundle = kOther}}};
  EXPECT_EQ(refusal(key, applied_by(kOther), std::nullopt, false, owners),
            "it belongs to bundle other, namespace team; next: fairlead delete -n team --name other deletes that "
            "bundle; --force deletes the object anyway");
  EXPECT_EQ(refusal(key, applied_by(kOther), std::nullopt, true, owners), "none");
  EXPECT_EQ(refusal(key, Json(Json::Object{}), std::nullopt), "none");
}

TEST(Refusal, WhatIsInKubeSystemIsDeletedByNameOnlyByForce) {
  const object::Key key = config_map_in("kube-system");
  EXPECT_EQ(refusal(key, Json(Json::Object{}), std::nullopt),
            "it is in kube-system; next: fairlead delete … --force, if you really want to delete it");
  EXPECT_EQ(refusal(key, Json(Json::Object{}), std::nullopt, true), "none");
  EXPECT_EQ(refusal(key, applied_by(kShop), identity_of(kShop)), "none");
}

TEST(Refusal, WhatIsProtectedStaysWhoeverAsks) {
  Json live = applied_by(kShop);
  live.make("metadata").make("annotations").make("fairlead.dev/delete") = "protected";
  for (const std::optional<inventory::Identity>& bundle :
       {std::optional(identity_of(kShop)), std::optional<inventory::Identity>()})
    for (bool force : {false, true})
      EXPECT_EQ(refusal(config_map_in("team"), live, bundle, force),
                "it has the annotation fairlead.dev/delete: protected; next: kubectl -n team annotate ConfigMap a "
                "fairlead.dev/delete-, if you really want to delete it");
}

}  // namespace
}  // namespace fairlead::removal

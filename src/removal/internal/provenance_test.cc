#include "removal/internal/provenance.h"

#include <gtest/gtest.h>

#include "inventory/applyset.h"

namespace fairlead::removal {
namespace {

const inventory::BundleName kShop{.name = "shop", .home = "default"};
const inventory::BundleName kOther{.name = "other", .home = "default"};

class ProvenanceTest : public testing::Test {
 protected:
  ProvenanceTest() {
    provenance_.add({"apps", "Deployment", "team", "acme-webhook"}, "uid-webhook");
    provenance_.add({"apps", "StatefulSet", "team", "db"}, "uid-db");
    provenance_.add({"", "ServiceAccount", "team", "default"}, "uid-account");
  }

  static Json written_by(std::vector<std::string_view> managers) {
    Json::Array entries;
    for (std::string_view manager : managers)
      entries.emplace_back(Json::Object{{"manager", manager}, {"operation", "Update"}});
    entries.emplace_back(Json::Object{{"manager", "somebody"}, {"operation", "Update"}, {"subresource", "status"}});
    Json object;
    object.make("metadata").make("managedFields") = std::move(entries);
    return object;
  }
  static Json owned_by(std::string_view api_version, std::string_view kind, std::string_view uid) {
    Json object = written_by({"kubectl"});
    object.make("metadata").make("ownerReferences") =
        Json::Array{Json::Object{{"apiVersion", api_version}, {"kind", kind}, {"uid", uid}}};
    return object;
  }
  static Json of_bundle(const inventory::BundleName& bundle) {
    Json object;
    object.make("metadata").make("labels").make(inventory::kPartOfLabel) = bundle.label_value();
    object.make("metadata").make("managedFields") =
        Json::Array{Json::Object{{"manager", bundle.field_manager()}, {"operation", "Apply"}}};
    return object;
  }
  MadeBy of(std::string kind, std::string name, const Json& object, std::string group = "") {
    return provenance_.of({std::move(group), std::move(kind), "team", std::move(name)}, object);
  }

  std::optional<inventory::Identity> shop_ =
      inventory::Identity{.label_value = kShop.label_value(), .managers = {kShop.field_manager()}};
  Provenance provenance_{shop_, [](const std::string&, const std::string& kind) { return kind == "Node"; }};
};

TEST_F(ProvenanceTest, WhatPeopleMadeIsOfOthers) {
  EXPECT_EQ(of("ConfigMap", "x", written_by({"kubectl-create"})), MadeBy::others);
  EXPECT_EQ(of("ConfigMap", "x", Json()), MadeBy::others);
  EXPECT_EQ(of("Secret", "x", written_by({"helm"})), MadeBy::others);
  EXPECT_EQ(of("ServiceAccount", "robot", written_by({"kubectl-create"})), MadeBy::others);
}

TEST_F(ProvenanceTest, WhatEveryNamespaceHasIsNot) {
  Json edited = written_by({"kube-controller-manager", "kubectl-edit"});
  EXPECT_EQ(of("ServiceAccount", "default", edited), MadeBy::ours);
  EXPECT_EQ(of("ConfigMap", "kube-root-ca.crt", edited), MadeBy::ours);
  EXPECT_EQ(of("Event", "x", edited), MadeBy::ours);
  EXPECT_EQ(of("Event", "x", edited, "events.k8s.io"), MadeBy::ours);
  EXPECT_EQ(of("Lease", "x", edited, "coordination.k8s.io"), MadeBy::ours);
  EXPECT_EQ(of("Endpoints", "web", written_by({"kube-controller-manager"})), MadeBy::ours);
}

TEST_F(ProvenanceTest, WhatHasAnOwnerCountsThroughItsOwner) {
  EXPECT_EQ(of("Pod", "x", owned_by("apps/v1", "ReplicaSet", "somebody")), MadeBy::ours);
  EXPECT_EQ(of("Pod", "x", owned_by("v1", "Node", "somebody")), MadeBy::others);
  EXPECT_EQ(of("Secret", "x", owned_by("v1", "Node", "uid-db")), MadeBy::ours);
}

TEST_F(ProvenanceTest, ProgramsOfTheBundleMakeThingsForIt) {
  EXPECT_EQ(of("Secret", "ca", written_by({"acme-webhook"})), MadeBy::ours);
  EXPECT_EQ(of("Secret", "ca", written_by({"webhook"})), MadeBy::ours);
  EXPECT_EQ(of("Secret", "ca", written_by({"acme"})), MadeBy::ours);
  EXPECT_EQ(of("Secret", "ca", written_by({"hook"})), MadeBy::others);
  EXPECT_EQ(of("Secret", "ca", written_by({"acme-webhook", "kubectl-edit"})), MadeBy::others);
  EXPECT_EQ(of("Secret", "ca", written_by({"default"})), MadeBy::others);
}

TEST_F(ProvenanceTest, ClaimsAreDataUnlessAStatefulSetOfTheBundleMadeThem) {
  Json claim = written_by({"kube-controller-manager"});
  EXPECT_EQ(of("PersistentVolumeClaim", "data-db-0", claim), MadeBy::ours);
  for (std::string name : {"data-web-0", "db-0", "data-db", "data-db-x", "data-db-"})
    EXPECT_EQ(of("PersistentVolumeClaim", name, claim), MadeBy::others) << name;
}

TEST_F(ProvenanceTest, AClaimNamedAsOneOfTheBundleInAnotherNamespaceIsOfOthers) {
  Json claim = written_by({"kube-controller-manager"});
  EXPECT_EQ(provenance_.of({"", "PersistentVolumeClaim", "elsewhere", "data-db-0"}, claim), MadeBy::others);
}

TEST_F(ProvenanceTest, BundlesAreToldApart) {
  EXPECT_EQ(of("ConfigMap", "x", of_bundle(kShop)), MadeBy::ours);
  EXPECT_EQ(of("ConfigMap", "x", of_bundle(kOther)), MadeBy::bundles);
  Json record = written_by({"fairlead"});
  record.make("metadata").make("labels").make(inventory::kIdLabel) = kShop.label_value();
  EXPECT_EQ(of("ConfigMap", "fairlead-shop", record), MadeBy::ours);
  record.make("metadata").make("labels").make(inventory::kIdLabel) = kOther.label_value();
  EXPECT_EQ(of("ConfigMap", "fairlead-other", record), MadeBy::bundles);
  // Objects that are being deleted anyway are no loss.
  Json leaving = of_bundle(kOther);
  leaving.make("metadata").make("deletionTimestamp") = "2030-01-01T00:00:00Z";
  EXPECT_EQ(of("ConfigMap", "x", leaving), MadeBy::ours);
}

TEST_F(ProvenanceTest, TokensGoWithTheirAccount) {
  Json token = written_by({"kubectl-create"});
  token.make("metadata").make("annotations").make("kubernetes.io/service-account.name") = "robot";
  EXPECT_EQ(of("Secret", "x", token), MadeBy::ours);
}

}  // namespace
}  // namespace fairlead::removal

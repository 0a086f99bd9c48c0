#include "terraform/projection/import_id.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace fairlead::terraform {
namespace {

std::string shown(std::string_view text, bool namespaced) {
  auto id = ImportId::parse(text);
  if (id) id = id->resolved(namespaced);
  if (!id) return id.error().message();
  return fmt::format("context={} ns={} {} {} name={}", id->context, id->ns, id->api_version, id->kind, id->name);
}

TEST(ImportId, TakesContextNamespaceTypeAndName) {
  EXPECT_EQ(shown("prod:shop:apps/v1/Deployment:web", true), "context=prod ns=shop apps/v1 Deployment name=web");
  EXPECT_EQ(shown("prod:v1/Namespace:shop", false), "context=prod ns= v1 Namespace name=shop");
}

TEST(ImportId, TakesContextsAndNamesWithColons) {
  EXPECT_EQ(shown("arn:aws:eks:eu-1:12:cluster/prod:shop:v1/ConfigMap:web", true),
            "context=arn:aws:eks:eu-1:12:cluster/prod ns=shop v1 ConfigMap name=web");
  EXPECT_EQ(shown("arn:aws:eks:eu-1:12:cluster/prod:rbac.authorization.k8s.io/v1/ClusterRole:system:node:x", false),
            "context=arn:aws:eks:eu-1:12:cluster/prod ns= rbac.authorization.k8s.io/v1 ClusterRole "
            "name=system:node:x");
}

TEST(ImportId, TakesPairs) {
  EXPECT_EQ(shown("context=a:b,namespace=shop,api_version=v1,kind=ConfigMap,name=web", true),
            "context=a:b ns=shop v1 ConfigMap name=web");
  EXPECT_EQ(shown("context=a,kind=ConfigMap,name=web", true),
            "\"context=a,kind=ConfigMap,name=web\" is not the id of an object: api_version is missing");
  EXPECT_EQ(
      shown("ctx=a,kind=ConfigMap,name=web", true),
      "\"ctx=a,kind=ConfigMap,name=web\" is not the id of an object: \"ctx\" is none of context, cluster, kubeconfig, "
      "namespace, api_version, kind and name");
}

TEST(ImportId, RefusesWhatNamesNoObject) {
  EXPECT_EQ(shown("prod:web", true),
            "\"prod:web\" is not the id of an object: no part of it is like apps/v1/Deployment");
  EXPECT_EQ(shown("prod:v1/ConfigMap:", true),
            "\"prod:v1/ConfigMap:\" is not the id of an object: the name is missing");
  EXPECT_EQ(
      shown("prod:v1/ConfigMap:web", true),
      "\"prod:v1/ConfigMap:web\" is not the id of an object: ConfigMap is namespaced, and the namespace is missing");
}

TEST(ImportId, IsWrittenAsItIsRead) {
  EXPECT_EQ(import_id_of("prod", "shop", "apps/v1", "Deployment", "web"), "prod:shop:apps/v1/Deployment:web");
  EXPECT_EQ(import_id_of("prod", "", "v1", "Namespace", "shop"), "prod:v1/Namespace:shop");
}

}  // namespace
}  // namespace fairlead::terraform

#include "terraform/projection/moved.h"

#include <gtest/gtest.h>

namespace fairlead::terraform {
namespace {

Json parsed(std::string_view text) { return Json::parse(text).value(); }

TEST(Moved, ReadsTheStateOfK8sconnectWithItsCluster) {
  auto moved = read_moved("k8sconnect_object", parsed(R"({"yaml_body":"kind: X","cluster":{"context":"prod"},
                                                          "delete_protection":true,"force_destroy":null})"));
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->yaml_body, "kind: X");
  EXPECT_EQ(moved->cluster.dump(), R"({"context":"prod"})");
  EXPECT_TRUE(moved->delete_protection);
  EXPECT_FALSE(moved->force_destroy);
  EXPECT_EQ(moved->field_manager, "k8sconnect");
}

TEST(Moved, MakesAManifestOfTheDynamicValueOfKubernetesManifest) {
  auto moved = read_moved("kubernetes_manifest",
                          parsed(R"({"manifest":{"type":["object",{}],"value":{"apiVersion":"v1","kind":"ConfigMap",
                          "metadata":{"name":"a","labels":null},"data":{"x":"1"}}},"object":{}})"));
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->yaml_body, "apiVersion: v1\ndata:\n  x: \"1\"\nkind: ConfigMap\nmetadata:\n  name: a\n");
  EXPECT_EQ(moved->field_manager, "Terraform");
}

TEST(Moved, RefusesOtherResources) {
  auto moved = read_moved("aws_instance", parsed("{}"));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().report(),
            "error: a aws_instance cannot be moved to fairlead_object\n"
            "  because   state is taken over from k8sconnect_object, kubectl_manifest and kubernetes_manifest only\n"
            "  next      use an `import` block, and a `removed` block for the former resource\n");
}

TEST(Manifest, HasNothingThatOnlyTheServerWrites) {
  Json object = parsed(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","uid":"1",
      "resourceVersion":"5","managedFields":[],"annotations":{"deployment.kubernetes.io/revision":"3",
      "kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":{"replicas":1},"status":{"replicas":1}})");
  EXPECT_EQ(as_manifest(object).dump(),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":1}})");
}

}  // namespace
}  // namespace fairlead::terraform

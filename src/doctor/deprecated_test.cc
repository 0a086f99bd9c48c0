// Manifests in old versions of APIs.
#include "doctor/doctor_testing.h"

namespace fairlead::doctor {
namespace {

class VersionsTest : public DoctorTest {
 protected:
  std::string judged(std::string_view yaml) {
    objects_.clear();
    add(yaml);
    std::vector<Json> bundle = objects_;
    objects_.clear();
    if (!definition_.empty()) add(definition_);
    Snapshot known = snapshot();
    known.resources.push_back({.group = "autoscaling",
                               .version = "v2",
                               .kind = "HorizontalPodAutoscaler",
                               .plural = "horizontalpodautoscalers",
                               .namespaced = true});
    known.resources.push_back(
        {.group = "", .version = "v1", .kind = "Endpoints", .plural = "endpoints", .namespaced = true});
    Findings findings;
    check_versions(known, bundle, {"a.yaml:1"}, findings);
    std::string text;
    for (const Finding& one : findings) {
      EXPECT_EQ(one.code, "deprecated-api-in-manifests");
      EXPECT_EQ(one.from, "a.yaml:1");
      text += fmt::format("{}: {}\n", name_of(one.severity), one.what);
      for (const std::string& cause : one.causes) text += "because " + cause + "\n";
      text += "next " + one.next + "\n";
    }
    return text;
  }
  std::string_view definition_;
};

TEST_F(VersionsTest, WhatIsServedAndNotDeprecatedIsFine) {
  EXPECT_EQ(judged("{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}"), "");
  EXPECT_EQ(judged("{apiVersion: other.example.com/v1, kind: Unknown, metadata: {name: x}}"), "");
}

TEST_F(VersionsTest, DeprecatedApiInManifests) {
  EXPECT_EQ(
      judged("{apiVersion: autoscaling/v2beta2, kind: HorizontalPodAutoscaler, metadata: {name: x, namespace: team}}"),
      "error: HorizontalPodAutoscaler team/x is written in autoscaling/v2beta2, which this cluster does not serve\n"
      "because Kubernetes 1.26 does not have it\n"
      "next write apiVersion: autoscaling/v2, and compare the fields\n");
  EXPECT_EQ(judged("{apiVersion: policy/v1beta1, kind: PodSecurityPolicy, metadata: {name: x}}"),
            "error: PodSecurityPolicy x is written in policy/v1beta1, which this cluster does not serve\n"
            "because Kubernetes 1.25 does not have it\n"
            "next it has no replacement: leave the object out\n");
  EXPECT_EQ(judged("{apiVersion: v1, kind: Endpoints, metadata: {name: x, namespace: team}}"),
            "info: Endpoints team/x is written in v1, which is deprecated\n"
            "next write apiVersion: discovery.k8s.io/v1, kind EndpointSlice, and compare the fields\n");
}

TEST_F(VersionsTest, AnotherVersionOfTheKindIsServed) {
  constexpr std::string_view kWidget =
      "{apiVersion: example.com/v1alpha1, kind: Widget, metadata: {name: x, namespace: team}}";
  EXPECT_EQ(judged(kWidget),
            "error: Widget team/x is written in example.com/v1alpha1, which this cluster does not serve\n"
            "because it serves Widget in example.com/v1\n"
            "next write apiVersion: example.com/v1, and compare the fields\n");
  EXPECT_EQ(judged(std::string(kWidget) +
                   "\n---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: "
                   "widgets.example.com}, spec: {group: example.com, names: {kind: Widget}}}\n"),
            "")
      << "the bundle brings it";
}

TEST_F(VersionsTest, ACrdDeclaresItsVersionsDeprecated) {
  definition_ =
      "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com}, "
      "spec: {group: example.com, names: {kind: Widget}, versions: [{name: v1, served: true, deprecated: true}]}}";
  EXPECT_EQ(judged("{apiVersion: example.com/v1, kind: Widget, metadata: {name: x, namespace: team}}"),
            "warning: Widget team/x is written in example.com/v1, which is deprecated\n"
            "because CustomResourceDefinition widgets.example.com declares it deprecated\n"
            "next kubectl api-resources --api-group=example.com\n");
}

}  // namespace
}  // namespace fairlead::doctor

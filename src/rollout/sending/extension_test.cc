// Objects of an API that comes with the bundle, behind an APIService.
#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"
#include "rollout/sending/internal/effect.h"

namespace fairlead::rollout {
namespace {

constexpr std::string_view kServer = R"(
apiVersion: v1
kind: Namespace
metadata: {name: ext}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: ext}
spec:
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: main, image: "main:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: ext}
spec: {selector: {app: api}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.com}
spec:
  group: metrics.example.com
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 10
  insecureSkipTLSVerify: true
  service: {namespace: ext, name: api, port: 443}
---
)";

class ExtensionTest : public RolloutTest {
 protected:
  ExtensionTest() : extension_(loop_, {.controllers = false}) {
    constexpr std::string_view kGauges = R"({"metadata":{"name":"gauges.metrics.example.com"},"spec":{
      "group":"metrics.example.com","scope":"Namespaced",
      "names":{"plural":"gauges","singular":"gauge","kind":"Gauge","listKind":"GaugeList"},
      "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
    auto made = loop_.run(
        http::send(extension_.api_server(), {.method = "POST",
                                             .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                                             .headers = {{"Content-Type", "application/json"}},
                                             .body = std::string(kGauges)}));
    EXPECT_EQ(made->status, 201) << made->body;
    sandbox_.serve_api("ext/api", &extension_.api_server());
  }
  ~ExtensionTest() override {
    sandbox_.serve_api("ext/api", nullptr);
    loop_.run(extension_.stop());
  }

  sandbox::Sandbox extension_;
};

// That a Gauge has a namespace is known only once the server answers. It is then stored in the bundle's home, found
// there by the next run, and not pruned.
TEST_F(ExtensionTest, AnObjectWithoutNamespaceGoesToTheBundlesHome) {
  std::string bundle = std::string(kServer) + R"(
apiVersion: metrics.example.com/v1
kind: Gauge
metadata: {name: load}
)";
  Options named{.name = "metrics", .prune = true};
  Ending first = apply(bundle, named);
  ASSERT_EQ(first.how, Ending::How::done) << reports(first);
  EXPECT_EQ(first.objects.back().key.text(), "Gauge default/load");
  Json stored = get("/apis/metrics.example.com/v1/namespaces/default/gauges/load");
  ASSERT_EQ(stored["metadata"]["name"].string_or(""), "load") << stored.dump();

  Ending second = apply(bundle, named);
  ASSERT_EQ(second.how, Ending::How::done) << reports(second);
  EXPECT_EQ(second.objects.size(), first.objects.size());
  EXPECT_EQ(get("/apis/metrics.example.com/v1/namespaces/default/gauges/load")["metadata"]["uid"],
            stored["metadata"]["uid"]);
}

// A server behind an APIService counts its versions for itself: that one is below all of the cluster's does not mean
// that it was there before the run.
TEST_F(ExtensionTest, AChangeIsToldWhateverItsServersVersionsAre) {
  auto with = [](std::string_view label) {
    return std::string(kServer) + fmt::format(R"(
apiVersion: metrics.example.com/v1
kind: Gauge
metadata: {{name: load, namespace: default, labels: {{x: {}}}}}
)",
                                              label);
  };
  ASSERT_EQ(apply(with("one")).how, Ending::How::done);
  Ending second = apply(with("two"));
  ASSERT_EQ(second.how, Ending::How::done) << reports(second);
  Json stored = get("/apis/metrics.example.com/v1/namespaces/default/gauges/load");
  ASSERT_LT(version_number(stored), version_number(get("/api/v1/namespaces/ext"))) << "else this test shows nothing";
  EXPECT_THAT(states(second), testing::HasSubstr("Gauge default/load changed"));
}

TEST_F(ExtensionTest, AnObjectForAnotherNamespaceThanTheChosenOneIsRefused) {
  std::string bundle = std::string(kServer) + R"(
apiVersion: metrics.example.com/v1
kind: Gauge
metadata: {name: load, namespace: kube-public}
)";
  Ending ending = apply(bundle, {.default_namespace = "ext", .namespace_is_chosen = true});
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(reports(ending),
            "error: Gauge kube-public/load was not accepted\n"
            "  because   Gauge kube-public/load is not for the namespace that was asked for, ext\n"
            "  from      bundle.yaml:32\n"
            "  next      --namespace=kube-public, or no --namespace at all\n");
}

}  // namespace
}  // namespace fairlead::rollout

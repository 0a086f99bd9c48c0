#include "rollout/internal/nulls.h"

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

constexpr std::string_view kDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stores.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: stores, singular: store, kind: Store, listKind: StoreList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              standard: {type: string, default: x}
              placement: {type: object, properties: {all: {type: string}}}
              maybe: {type: string, nullable: true}
              open: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {known: {type: string}}}
              list: {type: array, items: {type: object, properties: {a: {type: string}}}}
              map: {type: object, additionalProperties: {type: object}}
---
)";
// As people write them: a key, and nothing behind it.
constexpr std::string_view kStore = R"(
apiVersion: example.com/v1
kind: Store
metadata: {name: s, namespace: default, labels: }
spec: {size: , standard: , placement: , maybe: , open: {known: , unknown: }, list: [{a: }], map: {x: }}
)";
constexpr std::string_view kDeployment = R"(
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: default, annotations: }
spec:
  replicas:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}, creationTimestamp: null}
    spec: {nodeSelector: , containers: [{name: c, image: "c:1", resources: , env: }]}
)";

TEST(Nulls, ThoseThatMeanNothingAreDropped) {
  manifest::Bundle bundle = bundle_of(std::string(kDefinition) + std::string(kStore) + std::string(kDeployment));
  drop_nulls(bundle, {});
  EXPECT_EQ(bundle.objects[1].value()["metadata"].dump(), R"({"name":"s","namespace":"default"})");
  EXPECT_EQ(bundle.objects[1].value()["spec"].dump(), R"({"maybe":null,"open":{"unknown":null},"list":[{}],"map":{}})");
  EXPECT_EQ(bundle.objects[2].value().dump(),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"default"},)"
            R"("spec":{"selector":{"matchLabels":{"app":"d"}},"template":{"metadata":{"labels":{"app":"d"}},)"
            R"("spec":{"containers":[{"name":"c","image":"c:1"}]}}}})");
}

TEST(Nulls, ThoseOfMapsAndOfUnknownKindsStay) {
  manifest::Bundle bundle =
      bundle_of("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {a: }}\n---\n" + std::string(kStore));
  std::string before = bundle.objects[1].value()["spec"].dump();
  drop_nulls(bundle, {});
  EXPECT_EQ(bundle.objects[0].value()["data"].dump(), R"({"a":null})");
  EXPECT_EQ(bundle.objects[1].value()["spec"].dump(), before);
  drop_nulls(bundle, {bundle_of(kDefinition).objects[0].value()});
  EXPECT_NE(bundle.objects[1].value()["spec"].dump(), before);
}

class NullsTest : public RolloutTest {};

TEST_F(NullsTest, AnObjectWithThemIsTakenAndUnchangedAfterwards) {
  std::string bundle = std::string(kDefinition) + std::string(kStore);
  Ending first = apply(bundle, {.name = "shop"});
  ASSERT_EQ(first.how, Ending::How::done) << reports(first);
  EXPECT_EQ(get("/apis/example.com/v1/namespaces/default/stores/s")["spec"]["standard"].string_or(""), "x");
  EXPECT_EQ(states(apply(bundle, {.name = "shop"})),
            "CustomResourceDefinition stores.example.com unchanged\nStore default/s unchanged\n");
}

}  // namespace
}  // namespace fairlead::rollout

#include "graph/kind_generators.h"

#include <gmock/gmock.h>

#include "graph/graph_testing.h"

namespace fairlead::graph {
namespace {

TEST(KindGenerators, SayWhatTheyMake) {
  struct Case {
    std::string_view generator;
    std::string_view group;
    std::string_view kind;
    Makes answer;
  };
  constexpr std::string_view kComposite =
      "{apiVersion: apiextensions.crossplane.io/v1, kind: CompositeResourceDefinition, metadata: {name: x}, "
      "spec: {group: example.org, names: {kind: XDatabase}, claimNames: {kind: Database}}}";
  constexpr std::string_view kVersion =
      "{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: x}, spec: "
      "{customresourcedefinitions: {owned: [{name: widgets.example.org, kind: Widget, version: v1}]}}}";
  constexpr std::string_view kGraph =
      "{apiVersion: kro.run/v1alpha1, kind: ResourceGraphDefinition, metadata: {name: x}, spec: {schema: {kind: App}}}";
  constexpr std::string_view kPromise =
      "{apiVersion: platform.kratix.io/v1alpha1, kind: Promise, metadata: {name: x}, spec: {api: {kind: "
      "CustomResourceDefinition, spec: {group: example.org, names: {kind: Queue}}}}}";
  constexpr std::string_view kSubscription =
      "{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: x}}";
  constexpr std::string_view kMarked =
      "{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, annotations: {fairlead.dev/makes: "
      "'Widget.example.org, *.example.com'}}}";
  for (const Case& one : {
           Case{kComposite, "example.org", "XDatabase", Makes::yes},
           Case{kComposite, "example.org", "Database", Makes::yes},
           Case{kComposite, "example.com", "Database", Makes::no},
           Case{kVersion, "example.org", "Widget", Makes::yes},
           Case{kVersion, "org", "Widget", Makes::no},
           Case{kGraph, "kro.run", "App", Makes::yes},
           Case{kGraph, "example.org", "App", Makes::no},
           Case{kPromise, "example.org", "Queue", Makes::yes},
           Case{kSubscription, "example.org", "Widget", Makes::maybe},
           Case{kSubscription, "apps", "Deploymentt", Makes::no},
           Case{kSubscription, "networking.k8s.io", "Ingres", Makes::no},
           Case{kMarked, "example.org", "Widget", Makes::yes},
           Case{kMarked, "example.org", "Gadget", Makes::no},
           Case{kMarked, "example.com", "Gadget", Makes::yes},
       })
    EXPECT_EQ(makes(live(one.generator), one.group, one.kind), one.answer) << one.generator << " " << one.kind;
}

// Whatever could make it is soft: an installer may be of a kind that another one brings.
TEST(KindGenerators, AnObjectNeedsThem) {
  ClusterState cluster;
  cluster.find_resource = [](std::string_view, std::string_view, std::string_view) { return nullptr; };
  Graph graph = graph_of(R"(
{apiVersion: constraints.gatekeeper.sh/v1beta1, kind: NeedsLabel, metadata: {name: c}}
---
{apiVersion: templates.gatekeeper.sh/v1, kind: ConstraintTemplate, metadata: {name: t}, spec: {crd: {spec: {names: {kind: NeedsLabel}}}}}
---
{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: h, namespace: ns}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: s, namespace: ns}}
)",
                         cluster);
  EXPECT_EQ(reports_of(graph), "");
  EXPECT_TRUE(has_order(graph));
  EXPECT_THAT(needs_of(graph),
              testing::IsSupersetOf<std::string>({"NeedsLabel c -> ConstraintTemplate t soft: makes its kind",
                                                  "ConstraintTemplate t -> Subscription ns/s soft: makes its kind"}));
}

}  // namespace
}  // namespace fairlead::graph

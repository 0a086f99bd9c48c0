#include "rollout/core/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manifest/manifest_testing.h"

namespace fairlead::rollout {
namespace {

using State = Plan::State;
using testing::ElementsAre;
using testing::IsEmpty;

graph::Graph graph_of(std::string_view yaml) {
  graph::Graph graph = graph::Graph::build(manifest::bundle_of(yaml), {});
  EXPECT_FALSE(graph.has_errors());
  return graph;
}

std::string config_map(std::string_view name, std::string_view annotation = {}) {
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}, annotations: {{{}}}}}\n", name,
                     annotation);
}
std::string after(std::string_view other) {
  return fmt::format("config.kubernetes.io/depends-on: /namespaces/default/ConfigMap/{}", other);
}
std::string in_wave(int wave) { return fmt::format("argocd.argoproj.io/sync-wave: '{}'", wave); }

TEST(Plan, WhatNeedsNothingStartsAtOnceAndOnce) {
  graph::Graph graph = graph_of(config_map("a") + config_map("b"));
  Plan plan = plan_of(graph);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(1)));
  EXPECT_THAT(plan.take_startable(), IsEmpty());
  EXPECT_EQ(plan.state(NodeId(0)), State::started);
  EXPECT_EQ(plan.unsettled(), 2u);
  plan.stored(NodeId(0));
  EXPECT_EQ(plan.unsettled(), 2u);
  plan.done(NodeId(0));
  plan.done(NodeId(0));
  EXPECT_EQ(plan.unsettled(), 1u);
}

TEST(Plan, AReferenceIsMetByWhatIsStoredAndAWishByWhatIsReady) {
  graph::Graph graph = graph_of(config_map("last", after("config")) + config_map("config") + R"(
---
apiVersion: v1
kind: Pod
metadata: {name: app}
spec: {containers: [{name: a, image: a, envFrom: [{configMapRef: {name: config}}]}]}
)");
  Plan plan = plan_of(graph);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1)));
  ASSERT_EQ(plan.unmet(NodeId(0)).size(), 1u);
  EXPECT_EQ(plan.unmet(NodeId(0))[0].needs, NodeId(1));
  plan.stored(NodeId(1));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(2)));
  plan.done(NodeId(1));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0)));
  EXPECT_THAT(plan.unmet(NodeId(0)), IsEmpty());
}

TEST(Plan, AWaveBeginsWhenAllOfTheOneBeforeIsReady) {
  graph::Graph graph =
      graph_of(config_map("c", in_wave(2)) + config_map("b", in_wave(1)) + config_map("a1") + config_map("a2"));
  Plan plan = plan_of(graph);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(2), NodeId(3)));
  plan.done(NodeId(2));
  plan.stored(NodeId(3));
  EXPECT_THAT(plan.take_startable(), IsEmpty());
  plan.done(NodeId(3));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1)));
  plan.done(NodeId(1));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0)));
}

TEST(Plan, AFailureHoldsWhatNeedsItHoweverFarAndNothingElse) {
  graph::Graph graph =
      graph_of(config_map("a") + config_map("b", after("a")) + config_map("c", after("b")) + config_map("free"));
  Plan plan = plan_of(graph);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0), NodeId(3)));
  plan.failed(NodeId(0));
  EXPECT_EQ(plan.state(NodeId(1)), State::blocked);
  EXPECT_EQ(plan.state(NodeId(2)), State::blocked);
  EXPECT_EQ(plan.root_cause(NodeId(2)), NodeId(0));
  EXPECT_THAT(plan.blocked_by(NodeId(0)), ElementsAre(NodeId(1), NodeId(2)));
  EXPECT_EQ(plan.state(NodeId(3)), State::started);
  EXPECT_EQ(plan.unsettled(), 1u);
  plan.done(NodeId(0));
  EXPECT_EQ(plan.state(NodeId(0)), State::failed) << "what has failed stays so";
  EXPECT_THAT(plan.take_startable(), IsEmpty());
}

TEST(Plan, AFailureInAWaveHoldsTheNextOnes) {
  graph::Graph graph = graph_of(config_map("b", in_wave(1)) + config_map("a1") + config_map("a2"));
  Plan plan = plan_of(graph);
  (void)plan.take_startable();
  plan.failed(NodeId(2));
  plan.done(NodeId(1));
  EXPECT_EQ(plan.state(NodeId(0)), State::blocked);
  EXPECT_EQ(plan.root_cause(NodeId(0)), NodeId(2));
  EXPECT_EQ(plan.unsettled(), 0u);
}

// A guard has to be proved while the objects that back it start: waiting until they are ready would be too late.
TEST(Plan, AGuardStartsOnceWhatItStandsOnIsStored) {
  graph::Graph graph = graph_of(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: guarded, namespace: team}
---
apiVersion: v1
kind: Namespace
metadata: {name: team}
---
apiVersion: v1
kind: Namespace
metadata: {name: hooks}
---
apiVersion: v1
kind: Service
metadata: {name: hook, namespace: hooks}
spec: {selector: {app: hook}, ports: [{port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hook, namespace: hooks}
spec:
  selector: {matchLabels: {app: hook}}
  template: {metadata: {labels: {app: hook}}, spec: {containers: [{name: a, image: a}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks:
- name: v.example.com
  clientConfig: {service: {name: hook, namespace: hooks}}
  rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: team}}
  sideEffects: None
  admissionReviewVersions: [v1]
)");
  ASSERT_EQ(graph.guards().size(), 1u);
  NodeId guard = graph.node_of_guard(graph::GuardId(0));
  Plan plan = plan_of(graph);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1), NodeId(2), NodeId(5)));
  for (uint32_t node : {1u, 2u, 5u}) plan.done(NodeId(node));
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(3), NodeId(4)));
  plan.done(NodeId(3));
  EXPECT_EQ(plan.state(guard), State::waiting);
  plan.stored(NodeId(4));
  EXPECT_THAT(plan.take_startable(), ElementsAre(guard));
  EXPECT_EQ(plan.state(NodeId(0)), State::waiting);
  plan.done(guard);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(0)));
}

// Would not end in any sensible time if a step looked at more than what it changes.
TEST(Plan, AHundredThousandObjects) {
  constexpr uint32_t kCount = 100'000;
  manifest::Bundle bundle;
  auto add = [&](std::string name, Json annotations) {
    Json value(Json::Object{{"apiVersion", "v1"}, {"kind", "ConfigMap"}});
    value.make("metadata") = Json::Object{{"name", std::move(name)}, {"annotations", std::move(annotations)}};
    auto object = object::Object::from(std::move(value));
    ASSERT_TRUE(object);
    bundle.objects.push_back(*std::move(object));
  };
  for (uint32_t i = 0; i < kCount; ++i)
    add(fmt::format("m{}", i),
        Json::Object{{"argocd.argoproj.io/sync-wave", std::to_string(i % 10)},
                     {"config.kubernetes.io/depends-on",
                      i < 10 ? Json() : Json(fmt::format("/namespaces/default/ConfigMap/m{}", i - 10))}});
  graph::Graph graph = graph::Graph::build(bundle, {});
  ASSERT_FALSE(graph.has_errors());
  Plan plan = plan_of(graph);
  size_t started = 0;
  while (plan.unsettled() > 0) {
    std::vector<NodeId> next = plan.take_startable();
    ASSERT_FALSE(next.empty());
    started += next.size();
    for (NodeId node : next) plan.done(node);
  }
  EXPECT_EQ(started, kCount);
}

}  // namespace
}  // namespace fairlead::rollout

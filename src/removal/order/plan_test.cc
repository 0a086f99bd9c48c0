// Order and Plan: which targets are deleted after which others, without a cluster.
#include "removal/order/plan.h"

#include <gmock/gmock.h>

#include <deque>

#include "removal/removal_testing.h"

namespace fairlead::removal {
namespace {

using testing::ElementsAre;

// Targets from YAML, as they would be in a cluster.
class Targets {
 public:
  explicit Targets(const std::string& yaml) {
    bundle_ = bundle_of(yaml);
    for (const object::Object& object : bundle_.objects) {
      std::string plural = object.kind();
      std::ranges::transform(plural, plural.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
      targets.add({.key = object.key(),
                   .resource = {.group = object.group(),
                                .version = object.version(),
                                .kind = object.kind(),
                                .plural = plural + "s",
                                .namespaced = !object.ns().empty()},
                   .live = &object.value()});
    }
  }

  // One line per step: the targets that are deleted at the same time. The next line begins when all of them are
  // deleted.
  std::vector<std::string> turns() const {
    Order order = order_of(targets);
    Plan plan = plan_of(order);
    std::vector<std::string> lines;
    while (true) {
      std::vector<NodeId> next = plan.take_startable();
      if (next.empty()) return lines;
      std::string line;
      for (NodeId target : next) line += (line.empty() ? "" : " ") + targets[target].key.name;
      lines.push_back(line);
      for (NodeId target : next) plan.done(target);
    }
  }

  plan::IdVector<NodeId, LiveTarget> targets;

 private:
  manifest::Bundle bundle_;
};

constexpr std::string_view kHook =
    "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {{name: "
    "guard}}\n"
    "webhooks:\n- name: v.example.com\n  clientConfig: {{service: {{name: hook, namespace: system}}}}\n"
    "  rules: [{{apiGroups: ['{}'], apiVersions: ['*'], operations: [{}], resources: ['*']}}]\n";

TEST(Order, WhatHasNothingToDoWithEachOtherGoesAtOnce) {
  Targets targets(config_map("a") + config_map("b") + deployment("c"));
  EXPECT_THAT(targets.turns(), ElementsAre("a b c"));
}

TEST(Order, AnOperatorsBundle) {
  Targets targets("apiVersion: v1\nkind: Namespace\nmetadata: {name: system}\n---\n" + std::string(kWidgets) +
                  deployment("operator", "system") + config_map("settings", "", "system") + widget("w", "", "team") +
                  fmt::format(kHook, "example.com", "UPDATE"));
  EXPECT_THAT(targets.turns(), ElementsAre("w", "widgets.example.com", "guard", "operator settings", "system"));
}

TEST(Order, ANamespaceGoesBesideWhatIsInItWhereNothingThereNeedsAnOrder) {
  auto turns = [](const std::string& more) {
    Targets targets("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" + config_map("a", "", "team") + more);
    targets.targets[NodeId(0)].at_once = true;
    return targets.turns();
  };
  EXPECT_THAT(turns(""), ElementsAre("team a"));
  EXPECT_THAT(turns(config_map("held", "finalizers: [acme.dev/x]", "team")), ElementsAre("held", "a", "team"));
  EXPECT_THAT(turns(config_map("held", "finalizers: [acme.dev/x]", "other")), ElementsAre("held", "team a"));
  EXPECT_THAT(turns(config_map("b", "annotations: {fairlead.dev/needs: ConfigMap/a}", "team")),
              ElementsAre("b", "a", "team"));
}

TEST(Order, InstancesThatAreNotAmongThemNeedTheOperatorUntilTheirDefinitionIsGone) {
  Targets alone(std::string(kWidgets) + "---\n" + deployment("operator"));
  alone.targets[NodeId(0)].takes_others = true;
  EXPECT_THAT(alone.turns(), ElementsAre("widgets.example.com", "operator"));
}

TEST(Order, FinalizersOfOthersGoFirstAndThoseOfKubernetesDoNot) {
  Targets targets(config_map("a", "finalizers: [acme.dev/x]") +
                  config_map("b", "finalizers: [kubernetes.io/pvc-protection]") + deployment("c"));
  EXPECT_THAT(targets.turns(), ElementsAre("a", "b c"));
}

TEST(Order, WhatAWebhookIsAskedAboutGoesWhileItAnswers) {
  Targets targets(config_map("a", "", "team") + config_map("behind", "", "system") + deployment("hook", "system") +
                  fmt::format(kHook, "", "DELETE"));
  EXPECT_THAT(targets.turns(), ElementsAre("a", "guard", "behind hook"));
}

TEST(Order, AnApiServiceGoesAfterWhatItServesAndBeforeItsServer) {
  Targets targets(
      "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1.acme.dev}\nspec: {group: acme.dev, "
      "version: v1}\n" +
      deployment("server") + "---\napiVersion: acme.dev/v1\nkind: Thing\nmetadata: {name: t, namespace: default}\n");
  EXPECT_THAT(targets.turns(), ElementsAre("t", "v1.acme.dev", "server"));
}

TEST(Order, WhatPeopleWroteDownHoldsTheOtherWayRound) {
  Targets targets(config_map("first", "annotations: {argocd.argoproj.io/sync-wave: '-1'}") + config_map("second") +
                  config_map("third", "annotations: {argocd.argoproj.io/sync-wave: '5'}"));
  EXPECT_THAT(targets.turns(), ElementsAre("third", "second", "first"));
  Targets needs(config_map("a") + config_map("b", "annotations: {fairlead.dev/needs: ConfigMap/a}"));
  EXPECT_THAT(needs.turns(), ElementsAre("b", "a"));
}

TEST(Order, AWaveGivesWayToWhatFinalizersNeed) {
  // Without waves, the operator is deleted after its CRD.
  Targets fine(std::string(kWidgets) + widget("w", "acme.dev/x") + deployment("operator"));
  EXPECT_THAT(fine.turns(), ElementsAre("w", "widgets.example.com", "operator"));
  // The widget in the first wave would be deleted last of all, which is not possible.
  Targets odd(
      "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: default, finalizers: [acme.dev/x], "
      "annotations: {argocd.argoproj.io/sync-wave: '-1'}}\n" +
      deployment("operator"));
  EXPECT_THAT(odd.turns(), ElementsAre("w", "operator"));
  Order order = order_of(odd.targets);
  EXPECT_THAT(
      order.notes,
      ElementsAre(
          "waves are deleted in reverse order: ignored where it contradicts what finalizers and webhooks need"));
}

// What is only better is given up first, so that what people wrote down holds where it can.
TEST(Order, WhatIsOnlyBetterGivesWayToWhatPeopleWroteDown) {
  Order order{
      .targets = 2,
      .groups = {},
      .edges = {{.later = NodeId(0), .sooner = NodeId(1), .strength = Edge::Strength::better, .reason = "better"},
                {.later = NodeId(1), .sooner = NodeId(0), .strength = Edge::Strength::wished, .reason = "wished"}},
      .notes = {}};
  break_loops(order);
  ASSERT_EQ(order.edges.size(), 1u);
  EXPECT_EQ(order.edges[0].reason, "wished");
  EXPECT_TRUE(order.notes.empty());
}

TEST(Plan, WhatFailsHoldsWhatGoesAfterIt) {
  Targets targets(std::string(kWidgets) + widget("w") + config_map("free", "finalizers: [acme.dev/x]") +
                  deployment("operator"));
  Order order = order_of(targets.targets);
  Plan plan = plan_of(order);
  EXPECT_THAT(plan.take_startable(), ElementsAre(NodeId(1), NodeId(2)));
  std::vector<plan::Edge> unmet = plan.unmet(NodeId(0), 5);
  ASSERT_EQ(unmet.size(), 1U);
  EXPECT_EQ(unmet[0].needs, NodeId(1));
  EXPECT_EQ(unmet[0].reason, "an instance of it");
  plan.failed(NodeId(1));
  EXPECT_EQ(plan.state(NodeId(0)), Plan::State::blocked);
  EXPECT_THAT(plan.blocked_by(NodeId(1)), ElementsAre(NodeId(0), NodeId(3)));
  plan.done(NodeId(2));
  EXPECT_EQ(plan.unsettled(), 0U);
}

TEST(Plan, ManyTargetsTakeLittleTime) {
  std::string yaml = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n";
  for (int i = 0; i < 3000; ++i) yaml += config_map(fmt::format("c{}", i), "annotations: {a: b}", "team");
  Targets targets(yaml);
  EXPECT_EQ(targets.turns().size(), 2U);
}

}  // namespace
}  // namespace fairlead::removal

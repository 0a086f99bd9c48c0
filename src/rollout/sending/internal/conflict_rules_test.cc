#include "rollout/sending/internal/conflict_rules.h"

#include "inventory/applyset.h"
#include "inventory/membership.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

const inventory::BundleName kOne{.name = "one", .home = "default"};
const inventory::BundleName kTwo{.name = "two", .home = "default"};

kube::FaultCause cause(std::string field, std::string_view manager) {
  return {.reason = "FieldManagerConflict",
          .message = fmt::format("conflict with \"{}\"", manager),
          .field = std::move(field)};
}

kube::Fault conflict(std::vector<kube::FaultCause> causes) {
  kube::Fault fault;
  fault.kind = kube::FaultKind::field_conflict;
  fault.causes = std::move(causes);
  return fault;
}

const kube::FaultCause kLabel = cause(".metadata.labels.applyset.kubernetes.io/part-of", "fairlead/default/one");
const kube::FaultCause kData = cause(".data.a", "fairlead/default/one");
const kube::FaultCause kEdited = cause(".data.b", "kubectl-edit");

Json of_one() {
  Json object;
  object.make("metadata").make("labels").make(inventory::kPartOfLabel) = kOne.label_value();
  object.make("metadata").make("managedFields") =
      Json::Array{Json::Object{{"manager", kOne.field_manager()}, {"operation", "Apply"}}};
  return object;
}

Applier two(bool force_conflicts, bool adopt) {
  return {.successor = {.field_manager = kTwo.field_manager(),
                        .label_value = kTwo.label_value(),
                        .predecessors = {"fairlead"}},
          .force_conflicts = force_conflicts,
          .adopt = adopt};
}

TEST(ConflictRules, OnlyAdoptMovesAnObjectOfAnotherBundle) {
  kube::Fault fault = conflict({kLabel, kData});
  EXPECT_EQ(rule_on(fault, of_one(), two(false, false)), Ruling::another_bundle);
  EXPECT_EQ(rule_on(fault, of_one(), two(true, false)), Ruling::another_bundle);
  EXPECT_EQ(rule_on(fault, of_one(), two(false, true)), Ruling::move_here);
  // What can be told from the answer alone.
  EXPECT_EQ(rule_on(fault, Json(), two(true, false)), Ruling::another_bundle);
  EXPECT_EQ(rule_on(fault, Json(), two(false, true)), Ruling::move_here);
}

TEST(ConflictRules, AdoptTakesNothingFromThirdParties) {
  kube::Fault fault = conflict({kLabel, kData, kEdited});
  EXPECT_EQ(rule_on(fault, of_one(), two(false, true)), Ruling::refuse);
  EXPECT_EQ(rule_on(fault, of_one(), two(true, true)), Ruling::move_here);
}

TEST(ConflictRules, AnObjectOfABundleIsNotChangedFromOutside) {
  Applier plain{.successor = {.field_manager = "fairlead", .label_value = "", .predecessors = {}},
                .force_conflicts = true,
                .adopt = false};
  EXPECT_EQ(rule_on(conflict({kData}), of_one(), plain), Ruling::another_bundle);
  plain.adopt = true;
  EXPECT_EQ(rule_on(conflict({kData}), of_one(), plain), Ruling::another_bundle);
}

TEST(ConflictRules, ClientSideKubectlGivesWayButNotItsApplySets) {
  kube::Fault fault = conflict({cause(".data.a", "kubectl-client-side-apply")});
  EXPECT_EQ(rule_on(fault, Json(), two(false, false)), Ruling::take_over);
  fault.causes.push_back(cause(".metadata.labels.applyset.kubernetes.io/part-of", "kubectl-client-side-apply"));
  EXPECT_EQ(rule_on(fault, Json(), two(false, false)), Ruling::another_bundle);
}

TEST(ConflictRules, OthersGiveWayToForceOnly) {
  EXPECT_EQ(rule_on(conflict({kEdited}), Json(), two(false, false)), Ruling::refuse);
  EXPECT_EQ(rule_on(conflict({kEdited}), Json(), two(false, true)), Ruling::refuse);
  EXPECT_EQ(rule_on(conflict({kEdited}), Json(), two(true, false)), Ruling::take_over);
  EXPECT_EQ(rule_on(conflict({}), Json(), two(false, false)), Ruling::refuse);
  EXPECT_EQ(rule_on(conflict({cause(".data.a", "fairlead")}), Json(), two(false, false)), Ruling::take_over);
}

TEST_F(RolloutTest, AnObjectOfAnotherBundleStaysThere) {
  auto map = [](std::string_view value) {
    return fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\ndata: {{a: '{}'}}\n", value);
  };
  Options one, two;
  one.name = "one";
  two.name = "two";
  EXPECT_EQ(apply(map("1"), one).how, Ending::How::done);
  for (bool force : {false, true}) {
    two.force_conflicts = force;
    Ending ending = apply(map("2"), two);
    EXPECT_EQ(ending.how, Ending::How::conflicts);
    EXPECT_EQ(reports(ending),
              "error: ConfigMap default/x belongs to bundle one, namespace default\n"
              "  from      bundle.yaml:1\n"
              "  next      fairlead apply … --adopt moves it to this bundle; or leave it out of these manifests\n");
  }
  Options plain;
  plain.force_conflicts = true;
  EXPECT_EQ(reports(apply(map("2"), plain)),
            "error: ConfigMap default/x belongs to bundle one, namespace default\n"
            "  from      bundle.yaml:1\n"
            "  next      fairlead apply -n default --name one … with all manifests of that bundle; or leave it out of "
            "these manifests\n");
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/x")["data"]["a"].string_or(""), "1");

  two.force_conflicts = false;
  two.adopt = true;
  EXPECT_EQ(states(apply(map("2"), two)), "ConfigMap default/x changed\n") << events();
  // The bundle that it was moved from leaves it alone.
  one.prune = true;
  EXPECT_EQ(states(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n", one)),
            "ConfigMap default/other created\n");
  EXPECT_EQ(get("/api/v1/namespaces/default/configmaps/x")["data"]["a"].string_or(""), "2");
}

}  // namespace
}  // namespace fairlead::rollout

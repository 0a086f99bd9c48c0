#include "webhook/dynamo/dynamo_testing.h"

namespace fairlead::webhook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Asked kGraph("DynamoGraphDeployment");

std::string refusal_of(std::string_view spec) { return refusal(kGraph.create(spec)); }

// A graph that has one valid service, and `more`.
std::string graph_with(std::string_view more) { return fmt::format(R"({{"services":{{"main":{{}}}},{}}})", more); }

std::string many(size_t count, std::string_view item) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += fmt::format(fmt::runtime(item), i) + (i + 1 < count ? "," : "");
  return text;
}

TEST(DynamoGraph, ItNeedsAService) {
  EXPECT_EQ(refusal_of("{}"), "spec.services must have at least one service");
  EXPECT_EQ(refusal_of(R"({"services":{}})"), "spec.services must have at least one service");
  EXPECT_EQ(refusal_of("null"), "spec.services must have at least one service");
  EXPECT_EQ(refusal_of(R"({"services":{"main":{}}})"), "");
}

TEST(DynamoGraph, ItHasAtMost25Services) {
  EXPECT_EQ(refusal_of(R"({"services":{)" + many(25, R"("s{}":{{}})") + "}}"), "");
  EXPECT_EQ(refusal_of(R"({"services":{)" + many(26, R"("s{}":{{}})") + "}}"),
            "spec.services must have at most 25 services, and has 26");
}

TEST(DynamoGraph, ItHasAtMost100Pvcs) {
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[)" + many(100, R"({{"name":"p{}"}})") + "]")), "");
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[)" + many(101, R"({{"name":"p{}"}})") + "]")),
            "spec.pvcs must have at most 100 items, and has 101");
}

TEST(DynamoGraph, APvcNeedsAName) {
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[{"name":"a"},{"name":""}])")), "spec.pvcs[1].name is required");
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[{"create":false}])")), "spec.pvcs[0].name is required");
}

TEST(DynamoGraph, APvcThatIsToBeCreatedReportsAllThatItLacks) {
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[{"create":true},{}])")),
            "spec.pvcs[0].name is required\n"
            "spec.pvcs[0].storageClass is required when create is true\n"
            "spec.pvcs[0].size is required when create is true\n"
            "spec.pvcs[0].volumeAccessMode is required when create is true");
  EXPECT_EQ(refusal_of(graph_with(
                R"("pvcs":[{"create":true,"name":"a","storageClass":"fast","volumeAccessMode":"ReadWriteOnce"}])")),
            "spec.pvcs[0].size is required when create is true");
  EXPECT_EQ(
      refusal_of(graph_with(
          R"("pvcs":[{"create":true,"name":"a","storageClass":"fast","size":"1Gi","volumeAccessMode":"ReadWriteOnce"}])")),
      "");
}

TEST(DynamoGraph, PvcsComeBeforeServices) {
  EXPECT_EQ(refusal_of(R"({"services":{"main":{"replicas":-1}},"pvcs":[{}]})"), "spec.pvcs[0].name is required");
}

TEST(DynamoGraph, TheFirstErrorOfTheFirstServiceByNameIsReported) {
  EXPECT_EQ(refusal_of(R"({"services":{"z":{"replicas":-1},"b":{"sharedMemory":{}},"a":{}}})"),
            "spec.services[b].sharedMemory.size is required when disabled is false");
}

TEST(DynamoGraph, WarningsComeInTheOrderOfTheServices) {
  Decision decision = kGraph.create(
      R"({"services":{"z":{"dynamoNamespace":"x"},"a":{"dynamoNamespace":"y","globalDynamoNamespace":true}}})");
  EXPECT_TRUE(decision.allowed);
  EXPECT_THAT(decision.warnings,
              ElementsAre("spec.services[a].dynamoNamespace is deprecated and ignored. Value 'y' will be replaced with "
                          "'dynamo'. Remove this field from your configuration",
                          "spec.services[z].dynamoNamespace is deprecated and ignored. Value 'x' will be replaced with "
                          "'team-a-chat'. Remove this field from your configuration"));
}

TEST(DynamoGraph, TheBackendIsOneOfThreeAndImmutable) {
  EXPECT_EQ(refusal_of(graph_with(R"("backendFramework":"tgi")")),
            "spec.backendFramework must be sglang, vllm or trtllm, not \"tgi\"");
  Decision decision =
      kGraph.update(graph_with(R"("backendFramework":"vllm")"), graph_with(R"("backendFramework":"sglang")"));
  EXPECT_EQ(refusal(decision), "spec.backendFramework is immutable and cannot be changed after creation");
  EXPECT_THAT(decision.warnings, ElementsAre("Changing spec.backendFramework may cause unexpected behavior"));
}

constexpr std::string_view kTwoScaled =
    R"({"services":{"b":{"scalingAdapter":{"enabled":true},"replicas":2},"a":{"scalingAdapter":{"enabled":true}}}})";
constexpr std::string_view kTwoScaledFurther =
    R"({"services":{"b":{"scalingAdapter":{"enabled":true},"replicas":3},"a":{"scalingAdapter":{"enabled":true},"replicas":4}}})";
constexpr std::string_view kBothReplicas =
    "spec.services[a].replicas cannot be modified directly when scaling adapter is enabled; scale or update the "
    "related "
    "DynamoGraphDeploymentScalingAdapter instead\n"
    "spec.services[b].replicas cannot be modified directly when scaling adapter is enabled; scale or update the "
    "related "
    "DynamoGraphDeploymentScalingAdapter instead";

TEST(DynamoGraph, ReplicasOfAScalingAdapterMayNotBeChanged) {
  EXPECT_EQ(refusal(kGraph.update(kTwoScaled, kTwoScaledFurther)), kBothReplicas);
}

TEST(DynamoGraph, ReplicasMayBeChangedWhereNoAdapterManagesThem) {
  auto expect_allowed = [](std::string_view old_spec, std::string_view spec) {
    EXPECT_EQ(refusal(kGraph.update(old_spec, spec)), "");
  };
  // Without an adapter, with one that is off, for a new service, and where nothing changes: one is the default.
  expect_allowed(R"({"services":{"a":{"replicas":1}}})", R"({"services":{"a":{"replicas":2}}})");
  expect_allowed(R"({"services":{"a":{"replicas":1,"scalingAdapter":{"enabled":true}}}})",
                 R"({"services":{"a":{"replicas":2,"scalingAdapter":{"enabled":false}}}})");
  expect_allowed(R"({"services":{"b":{}}})", R"({"services":{"a":{"replicas":2,"scalingAdapter":{"enabled":true}}}})");
  expect_allowed(R"({"services":{"a":{"replicas":1,"scalingAdapter":{"enabled":true}}}})",
                 R"({"services":{"a":{"scalingAdapter":{"enabled":true}}}})");
}

TEST(DynamoGraph, TheOperatorAndThePlannerOfTheNamespaceMayScale) {
  EXPECT_EQ(refusal(kGraph.update(kTwoScaled, kTwoScaledFurther, std::string(kOperator))), "");
  EXPECT_EQ(
      refusal(kGraph.update(kTwoScaled, kTwoScaledFurther, "system:serviceaccount:team-a:planner-serviceaccount")), "");
}

TEST(DynamoGraph, NobodyElseMayScale) {
  for (std::string user :
       {"", "planner-serviceaccount", "system:serviceaccount:team-b:planner-serviceaccount",
        "system:serviceaccount:team-a:my-planner-serviceaccount",
        "system:serviceaccount:team-a:dynamo-operator-controller-manager",
        "system:serviceaccount:dynamo-system:my-dynamo-operator-controller-manager", "system:serviceaccount:team-a:"})
    EXPECT_EQ(refusal(kGraph.update(kTwoScaled, kTwoScaledFurther, user)), kBothReplicas) << user;
}

TEST(DynamoGraph, WithoutAnOperatorAccountNobodyIsTakenForIt) {
  Asked graph("DynamoGraphDeployment", {.operator_account = "", .planner_account = ""});
  EXPECT_EQ(refusal(graph.update(kTwoScaled, kTwoScaledFurther, "")), kBothReplicas);
  EXPECT_EQ(refusal(graph.update(kTwoScaled, kTwoScaledFurther, "system:serviceaccount:team-a:")), kBothReplicas);
}

TEST(DynamoGraph, ThePlannerIsThatOfTheObjectsNamespaceAlsoIfTheRequestNamesNone) {
  Request request{.operation = admission::Operation::update,
                  .user = {.name = "system:serviceaccount:team-a:planner-serviceaccount"},
                  .object = with_spec("DynamoGraphDeployment", kTwoScaledFurther),
                  .old_object = with_spec("DynamoGraphDeployment", kTwoScaled)};
  EXPECT_EQ(refusal(kGraph.ask(request)), "");
}

TEST(DynamoGraph, AScalerMayNotBreakOtherRules) {
  EXPECT_EQ(refusal(kGraph.update(graph_with(R"("backendFramework":"vllm")"), R"({"services":{"main":{}}})",
                                  std::string(kOperator))),
            "spec.backendFramework is immutable and cannot be changed after creation");
}

TEST(DynamoGraph, AServiceWithAStrangeNameCannotForgeALine) {
  EXPECT_EQ(refusal_of(R"({"services":{"a\nb":{"replicas":-1}}})"),
            "spec.services[a\\nb].replicas must be non-negative");
}

TEST(DynamoGraph, FieldsOfAnotherTypeAreErrors) {
  EXPECT_EQ(refusal_of(R"({"services":{"z":null,"b":null}})"), "spec.services[b] must be an object, not null");
  EXPECT_EQ(refusal_of(R"({"services":["a"]})"), "spec.services must be an object, not array");
  EXPECT_EQ(refusal_of(graph_with(R"("pvcs":[{"size":"big"}])")),
            "spec.pvcs[0].size must be a quantity such as 8Gi, not \"big\"");
}

TEST(DynamoGraph, AnOldObjectOfAnyFormDoesNotMatter) {
  for (std::string_view old_spec : {"null", "[]", R"({"services":[]})", R"({"services":{"a":1}})"})
    EXPECT_EQ(refusal(kGraph.update(old_spec, R"({"services":{"a":{"replicas":1}}})")), "") << old_spec;
  EXPECT_THAT(kGraph.update("null", R"({"services":{"a":{}}})").warnings, IsEmpty());
}

}  // namespace
}  // namespace fairlead::webhook

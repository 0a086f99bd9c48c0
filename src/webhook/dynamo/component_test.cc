#include "webhook/dynamo/dynamo_testing.h"

namespace fairlead::webhook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Asked kComponent("DynamoComponentDeployment");

std::string refusal_of(std::string_view spec) { return refusal(kComponent.create(spec)); }

TEST(DynamoComponent, AnEmptyOrMissingSpecIsAllowed) {
  EXPECT_EQ(refusal_of("{}"), "");
  EXPECT_EQ(refusal_of("null"), "");
}

TEST(DynamoComponent, ReplicasMustNotBeNegative) {
  EXPECT_EQ(refusal_of(R"({"replicas":-1})"), "spec.replicas must be non-negative");
  EXPECT_EQ(refusal_of(R"({"replicas":0})"), "");
  EXPECT_EQ(kComponent.create(R"({"replicas":-1})").code, 403);
}

TEST(DynamoComponent, AnIngressThatIsEnabledNeedsAHost) {
  EXPECT_EQ(refusal_of(R"({"ingress":{"enabled":true}})"), "spec.ingress.host is required when ingress is enabled");
  EXPECT_EQ(refusal_of(R"({"ingress":{"enabled":true,"host":""}})"),
            "spec.ingress.host is required when ingress is enabled");
  EXPECT_EQ(refusal_of(R"({"ingress":{"enabled":true,"host":"chat.example.com"}})"), "");
  EXPECT_EQ(refusal_of(R"({"ingress":{"host":""}})"), "");
}

TEST(DynamoComponent, AVolumeThatIsNoCompilationCacheNeedsAMountPoint) {
  EXPECT_EQ(refusal_of(R"({"volumeMounts":[{"name":"a","mountPoint":"/a"},{"name":"b"}]})"),
            "spec.volumeMounts[1].mountPoint is required when useAsCompilationCache is false");
  EXPECT_EQ(refusal_of(R"({"volumeMounts":[{"name":"a","useAsCompilationCache":true}]})"), "");
}

TEST(DynamoComponent, SharedMemoryThatIsNotDisabledNeedsASize) {
  std::string error = "spec.sharedMemory.size is required when disabled is false";
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{}})"), error);
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"size":"0"}})"), error);
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"size":0}})"), error);
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"size":"0Gi","disabled":false}})"), error);
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"size":"8Gi"}})"), "");
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"size":1024}})"), "");
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{"disabled":true}})"), "");
}

TEST(DynamoComponent, OnlyTheFirstErrorIsReported) {
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{},"volumeMounts":[{}],"ingress":{"enabled":true},"replicas":-1})"),
            "spec.replicas must be non-negative");
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{},"volumeMounts":[{}],"ingress":{"enabled":true}})"),
            "spec.ingress.host is required when ingress is enabled");
  EXPECT_EQ(refusal_of(R"({"sharedMemory":{},"volumeMounts":[{}]})"),
            "spec.volumeMounts[0].mountPoint is required when useAsCompilationCache is false");
}

TEST(DynamoComponent, DeprecatedFieldsAreWarnings) {
  Decision decision = kComponent.create(R"({"dynamoNamespace":"mine","autoscaling":{}})");
  EXPECT_TRUE(decision.allowed);
  EXPECT_THAT(decision.warnings,
              ElementsAre("spec.dynamoNamespace is deprecated and ignored. Value 'mine' will be replaced with "
                          "'team-a-'. Remove this field from your configuration",
                          "spec.autoscaling is deprecated and ignored. Use DynamoGraphDeploymentScalingAdapter with "
                          "HPA, KEDA, or Planner for autoscaling instead. See docs/kubernetes/autoscaling.md"));
  EXPECT_THAT(kComponent.create(R"({"dynamoNamespace":""})").warnings, IsEmpty());
  EXPECT_THAT(kComponent.create(R"({"dynamoNamespace":"mine","replicas":-1})").warnings, IsEmpty());
}

TEST(DynamoComponent, TheDynamoNamespaceIsThatOfItsGraph) {
  Json object = with_spec("DynamoComponentDeployment", R"({"dynamoNamespace":"mine"})");
  object.make("metadata").make("ownerReferences") =
      Json::Array{Json::Object{{"kind", "Other"}, {"name", "x"}},
                  Json::Object{{"kind", "DynamoGraphDeployment"}, {"name", "chat-graph"}}};
  EXPECT_THAT(kComponent.ask({.object = object}).warnings,
              ElementsAre("spec.dynamoNamespace is deprecated and ignored. Value 'mine' will be replaced with "
                          "'team-a-chat-graph'. Remove this field from your configuration"));
  object.make("spec").make("globalDynamoNamespace") = true;
  EXPECT_THAT(kComponent.ask({.object = object}).warnings,
              ElementsAre("spec.dynamoNamespace is deprecated and ignored. Value 'mine' will be replaced with "
                          "'dynamo'. Remove this field from your configuration"));
}

// The API server drops a warning with control characters without a word.
TEST(DynamoComponent, AWarningHasNoControlCharacters) {
  EXPECT_THAT(kComponent.create(R"({"dynamoNamespace":"a\nb\u001b"})").warnings,
              ElementsAre("spec.dynamoNamespace is deprecated and ignored. Value 'a\\nb\\x1b' will be replaced with "
                          "'team-a-'. Remove this field from your configuration"));
}

TEST(DynamoComponent, TheBackendIsOneOfThree) {
  for (std::string_view backend : {"sglang", "vllm", "trtllm"})
    EXPECT_EQ(refusal_of(fmt::format(R"({{"backendFramework":"{}"}})", backend)), "");
  EXPECT_EQ(refusal_of(R"({"backendFramework":"tgi"})"),
            "spec.backendFramework must be sglang, vllm or trtllm, not \"tgi\"");
}

TEST(DynamoComponent, TheBackendIsImmutable) {
  auto expect_refused = [](std::string_view old_spec, std::string_view spec) {
    Decision decision = kComponent.update(old_spec, spec);
    EXPECT_EQ(refusal(decision), "spec.backendFramework is immutable and cannot be changed after creation");
    EXPECT_THAT(decision.warnings, ElementsAre("Changing spec.backendFramework may cause unexpected behavior"));
  };
  expect_refused(R"({"backendFramework":"vllm","autoscaling":{}})",
                 R"({"backendFramework":"sglang","autoscaling":{}})");
  expect_refused(R"({"backendFramework":"vllm"})", "{}");
  expect_refused("{}", R"({"backendFramework":"vllm"})");
  EXPECT_EQ(refusal(kComponent.update(R"({"backendFramework":"vllm"})", R"({"backendFramework":"vllm"})")), "");
}

TEST(DynamoComponent, AnUpdateIsCheckedByItselfFirst) {
  Decision decision = kComponent.update(R"({"backendFramework":"vllm"})", R"({"replicas":-1})");
  EXPECT_EQ(refusal(decision), "spec.replicas must be non-negative");
  EXPECT_THAT(decision.warnings, IsEmpty());
  EXPECT_THAT(kComponent.update("{}", R"({"autoscaling":{}})").warnings, testing::SizeIs(1));
}

TEST(DynamoComponent, AnObjectThatIsBeingDeletedMayChangeAnyHow) {
  Json object = with_spec("DynamoComponentDeployment", R"({"replicas":-1,"backendFramework":"vllm"})");
  object.make("metadata").make("deletionTimestamp") = "2026-01-01T00:00:00Z";
  Request request{.operation = admission::Operation::update,
                  .object = object,
                  .old_object = with_spec("DynamoComponentDeployment", "{}")};
  EXPECT_EQ(refusal(kComponent.ask(request)), "");
}

TEST(DynamoComponent, DeletionsAndTheStatusAreAllowed) {
  Json invalid = with_spec("DynamoComponentDeployment", R"({"replicas":-1})");
  EXPECT_EQ(refusal(kComponent.ask({.operation = admission::Operation::remove, .old_object = invalid})), "");
  Request status{
      .operation = admission::Operation::update, .subresource = "status", .object = invalid, .old_object = invalid};
  EXPECT_EQ(refusal(kComponent.ask(status)), "");
  status.subresource = "scale";
  EXPECT_EQ(refusal(kComponent.ask(status)), "spec.replicas must be non-negative");
}

struct WrongType {
  std::string_view spec;
  std::string_view error;
};

TEST(DynamoComponent, FieldsOfAnotherTypeAreErrors) {
  for (const WrongType& wrong : {
           WrongType{R"([])", "spec must be an object, not array"},
           WrongType{R"({"replicas":"3"})", "spec.replicas must be a whole number of at most 32 bits, not string"},
           WrongType{R"({"replicas":2147483648})",
                     "spec.replicas must be a whole number of at most 32 bits, not 2147483648"},
           WrongType{R"({"ingress":true})", "spec.ingress must be an object, not boolean"},
           WrongType{R"({"ingress":{"enabled":"yes"}})", "spec.ingress.enabled must be true or false, not string"},
           WrongType{R"({"volumeMounts":{}})", "spec.volumeMounts must be a list, not object"},
           WrongType{R"({"volumeMounts":[{},null]})", "spec.volumeMounts[1] must be an object, not null"},
           WrongType{R"({"sharedMemory":{"size":"much"}})",
                     "spec.sharedMemory.size must be a quantity such as 8Gi, not \"much\""},
           WrongType{R"({"sharedMemory":{"size":[]}})",
                     "spec.sharedMemory.size must be a quantity such as 8Gi, not array"},
           WrongType{R"({"backendFramework":1})", "spec.backendFramework must be a string, not integer"},
       }) {
    Decision decision = kComponent.create(wrong.spec);
    EXPECT_EQ(refusal(decision), wrong.error);
    EXPECT_EQ(decision.code, 400);
  }
}

}  // namespace
}  // namespace fairlead::webhook

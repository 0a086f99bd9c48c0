#include "webhook/dynamo/dynamo_testing.h"

namespace fairlead::webhook {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Asked kModel("DynamoModel");

std::string refusal_of(std::string_view spec) { return refusal(kModel.create(spec)); }

std::string lora_with(std::string_view more) {
  return fmt::format(R"({{"modelName":"m","baseModelName":"b","modelType":"lora"{}}})", more);
}

TEST(DynamoModel, ItNeedsAModelAndABaseModel) {
  EXPECT_EQ(refusal_of("{}"), "spec.modelName is required");
  EXPECT_EQ(refusal_of("null"), "spec.modelName is required");
  EXPECT_EQ(refusal_of(R"({"modelName":"m"})"), "spec.baseModelName is required");
  EXPECT_EQ(refusal_of(R"({"modelName":"","baseModelName":""})"), "spec.modelName is required");
  EXPECT_EQ(refusal_of(R"({"modelName":"m","baseModelName":"b"})"), "");
}

TEST(DynamoModel, ItsTypeIsOneOfThree) {
  EXPECT_EQ(refusal_of(R"({"modelName":"m","baseModelName":"b","modelType":"base"})"), "");
  EXPECT_EQ(refusal_of(R"({"modelName":"m","baseModelName":"b","modelType":"adapter"})"), "");
  EXPECT_EQ(refusal_of(R"({"modelName":"m","baseModelName":"b","modelType":"LoRA"})"),
            "spec.modelType must be base, lora or adapter, not \"LoRA\"");
}

TEST(DynamoModel, ALoraNeedsASource) {
  EXPECT_EQ(refusal_of(lora_with("")), "spec.source is required when modelType is 'lora'");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":{})")), "spec.source.uri must be specified when modelType is 'lora'");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":{"uri":""})")),
            "spec.source.uri must be specified when modelType is 'lora'");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":{"uri":"s3://bucket/m"})")), "");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":{"uri":"hf://org/m@main"})")), "");
}

TEST(DynamoModel, ASourceThatIsRefusedIsNotShown) {
  for (std::string_view uri : {"https://user:secret@example.com/m", "S3://bucket/m", " s3://bucket/m", "file:///m"})
    EXPECT_EQ(refusal_of(lora_with(fmt::format(R"(,"source":{{"uri":"{}"}})", uri))),
              "source URI must start with 's3://' or 'hf://', got: <redacted>");
}

TEST(DynamoModel, OtherTypesNeedNoSource) {
  EXPECT_EQ(refusal_of(R"({"modelName":"m","baseModelName":"b","source":{"uri":"https://x"}})"), "");
}

TEST(DynamoModel, ItsTypeIsImmutable) {
  Decision decision =
      kModel.update(R"({"modelName":"m","baseModelName":"b"})", lora_with(R"(,"source":{"uri":"hf://m"})"));
  EXPECT_EQ(refusal(decision), "spec.modelType is immutable and cannot be changed after creation");
  EXPECT_THAT(decision.warnings, ElementsAre("Changing spec.modelType may cause unexpected behavior"));
  EXPECT_EQ(refusal(kModel.update(R"({"modelName":"m","baseModelName":"b"})",
                                  R"({"modelName":"m","baseModelName":"b","modelType":"base"})")),
            "");
}

TEST(DynamoModel, ItsBaseModelIsImmutable) {
  Decision decision =
      kModel.update(R"({"modelName":"m","baseModelName":"b"})", R"({"modelName":"m","baseModelName":"c"})");
  EXPECT_EQ(refusal(decision), "spec.baseModelName is immutable and cannot be changed after creation");
  EXPECT_THAT(decision.warnings, ElementsAre("Changing spec.baseModelName will break endpoint discovery"));
}

TEST(DynamoModel, TheTypeIsCheckedBeforeTheBaseModel) {
  EXPECT_EQ(refusal(kModel.update(R"({"modelName":"m","baseModelName":"b"})",
                                  R"({"modelName":"m","baseModelName":"c","modelType":"adapter"})")),
            "spec.modelType is immutable and cannot be changed after creation");
}

TEST(DynamoModel, ItsNameMayChange) {
  Decision decision =
      kModel.update(R"({"modelName":"m","baseModelName":"b"})", R"({"modelName":"n","baseModelName":"b"})");
  EXPECT_EQ(refusal(decision), "");
  EXPECT_THAT(decision.warnings, IsEmpty());
}

TEST(DynamoModel, FieldsOfAnotherTypeAreErrors) {
  EXPECT_EQ(refusal_of(R"({"modelName":1})"), "spec.modelName must be a string, not integer");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":"s3://x")")), "spec.source must be an object, not string");
  EXPECT_EQ(refusal_of(lora_with(R"(,"source":{"uri":["s3://x"]})")), "spec.source.uri must be a string, not array");
}

TEST(Dynamo, TheSetHasThreeResources) {
  PolicySet set = dynamo_policies({});
  EXPECT_EQ(set.name, "dynamo");
  std::vector<std::string> paths;
  std::vector<std::string> resources;
  for (const Registration& registration : set.registrations) {
    paths.push_back(validating_path(registration));
    resources.push_back(registration.resource);
    EXPECT_FALSE(registration.mutates);
  }
  EXPECT_THAT(paths, ElementsAre("/validate-nvidia-com-v1alpha1-dynamocomponentdeployment",
                                 "/validate-nvidia-com-v1alpha1-dynamographdeployment",
                                 "/validate-nvidia-com-v1alpha1-dynamomodel"));
  EXPECT_THAT(resources, ElementsAre("dynamocomponentdeployments", "dynamographdeployments", "dynamomodels"));
}

}  // namespace
}  // namespace fairlead::webhook

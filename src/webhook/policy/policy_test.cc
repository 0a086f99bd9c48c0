#include "webhook/policy/policy.h"

#include <gtest/gtest.h>

namespace fairlead::webhook {
namespace {

struct RefusesUpdates : Policy {
  Result<Decision> validate_update(const Request&) const override { return deny("no updates"); }
};

TEST(Policy, WhatIsNotOverriddenAllowsAndChangesNothing) {
  Request request{.object = Json::parse(R"({"kind":"Widget"})").value()};
  RefusesUpdates policy;
  EXPECT_TRUE(validate(policy, request)->allowed);
  EXPECT_EQ(policy.mutate(request)->dump(), R"({"kind":"Widget"})");
}

TEST(Policy, TheOperationDecidesWhichMethodIsCalled) {
  Request request{.operation = admission::Operation::update};
  Result<Decision> decision = validate(RefusesUpdates{}, request);
  EXPECT_FALSE(decision->allowed);
  EXPECT_EQ(decision->message, "no updates");
  for (admission::Operation operation :
       {admission::Operation::create, admission::Operation::remove, admission::Operation::connect}) {
    request.operation = operation;
    EXPECT_TRUE(validate(RefusesUpdates{}, request)->allowed);
  }
}

TEST(Policy, PathsAreThoseOfKubebuilder) {
  Registration registration{.kind = {.group = "nvidia.com", .version = "v1alpha1", .kind = "DynamoModel"}};
  EXPECT_EQ(validating_path(registration), "/validate-nvidia-com-v1alpha1-dynamomodel");
  EXPECT_EQ(mutating_path(registration), "/mutate-nvidia-com-v1alpha1-dynamomodel");
}

TEST(Policy, TheCoreGroupLeavesItsPlaceEmpty) {
  Registration registration{.kind = {.group = "", .version = "v1", .kind = "Pod"}};
  EXPECT_EQ(validating_path(registration), "/validate--v1-pod");
}

}  // namespace
}  // namespace fairlead::webhook

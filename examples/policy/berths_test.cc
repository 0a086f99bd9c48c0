#include "berths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace harbour {
namespace {

using fairlead::Json;
using fairlead::admission::Operation;
using namespace fairlead::webhook;

// A policy is a function from a request to a decision: a test needs no cluster, no server and no certificate.
struct Berths : testing::Test {
  std::shared_ptr<const Policy> policy = berth_policies().registrations.front().policy;

  static Json berth(std::string_view spec, std::string_view status = "{}") {
    return Json::Object{
        {"kind", "Berth"}, {"spec", Json::parse(spec).value()}, {"status", Json::parse(status).value()}};
  }
  Decision decide(const Request& request) const { return validate(*policy, request).value(); }
  Decision create(std::string_view spec) const { return decide({.object = berth(spec)}); }
};

TEST_F(Berths, HaveTenTo400Metres) {
  EXPECT_TRUE(create(R"({"metres":10})").allowed);
  EXPECT_TRUE(create(R"({"metres":400})").allowed);
  EXPECT_EQ(create(R"({"metres":9})").message, "spec.metres must be 10 to 400, not 9");
  EXPECT_EQ(create(R"({"metres":401})").message, "spec.metres must be 10 to 400, not 401");
}

TEST_F(Berths, FieldsOfAnotherTypeAreRefused) {
  for (std::string_view spec : {"null", "{}", R"({"metres":"100"})", R"({"metres":10.5})", R"({"metres":null})"})
    EXPECT_EQ(create(spec).message, "spec.metres must be a whole number") << spec;
}

TEST_F(Berths, WarnIfTheyAreLongerThanAnyShip) {
  EXPECT_THAT(create(R"({"metres":301})").warnings,
              testing::ElementsAre("spec.metres: no ship that comes here is longer than 300 m"));
  EXPECT_THAT(create(R"({"metres":300})").warnings, testing::IsEmpty());
}

TEST_F(Berths, WithAShipCannotGetShorter) {
  Request request{.operation = Operation::update,
                  .object = berth(R"({"metres":50})", R"({"ship":"Aurora"})"),
                  .old_object = berth(R"({"metres":100})", R"({"ship":"Aurora"})")};
  EXPECT_EQ(decide(request).message, "spec.metres cannot go from 100 to 50 while Aurora lies there");
  request.object.make("spec").make("metres") = 100;
  EXPECT_TRUE(decide(request).allowed);
  request.object = berth(R"({"metres":50})");
  EXPECT_TRUE(decide(request).allowed);
}

TEST_F(Berths, ThatAreBeingDeletedMayLoseTheirFinalizer) {
  Request request{.operation = Operation::update, .object = berth("null"), .old_object = berth("null")};
  EXPECT_FALSE(decide(request).allowed);
  request.object.make("metadata").make("deletionTimestamp") = "2026-01-01T00:00:00Z";
  EXPECT_TRUE(decide(request).allowed);
}

TEST_F(Berths, WithAShipCannotBeDeleted) {
  Request request{.operation = Operation::remove, .old_object = berth("{}", R"({"ship":"Aurora"})")};
  EXPECT_EQ(decide(request).message, "Aurora lies there");
  request.old_object = berth("{}");
  EXPECT_TRUE(decide(request).allowed);
}

TEST_F(Berths, GetADraught) {
  EXPECT_EQ((*policy->mutate({.object = berth(R"({"metres":10})")}))["spec"].dump(), R"({"metres":10,"draught":5})");
  EXPECT_EQ((*policy->mutate({.object = berth(R"({"draught":9})")}))["spec"].dump(), R"({"draught":9})");
}

TEST_F(Berths, AreServedAtThePathsOfKubebuilder) {
  Registration registration = berth_policies().registrations.front();
  EXPECT_EQ(validating_path(registration), "/validate-demo-fairlead-dev-v1-berth");
  EXPECT_EQ(mutating_path(registration), "/mutate-demo-fairlead-dev-v1-berth");
}

}  // namespace
}  // namespace harbour

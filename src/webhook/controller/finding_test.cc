#include "webhook/controller/finding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::webhook {
namespace {

WallTime noon() {
  return WallTime(std::chrono::sys_days(std::chrono::year(2030) / std::chrono::March / 1) + std::chrono::hours(12));
}

// Refuses what `spec.refuse` says, and fails where that is no string.
struct Obeys : Policy {
  Result<Decision> validate_create(const Request& request) const override {
    const Json& refuse = request.object["spec"]["refuse"];
    if (refuse.is_null()) return allow();
    if (!refuse.is_string()) return fail(ErrorKind::internal, "it is confused");
    return deny(fmt::format("{} in {}", refuse.string_or(""), request.ns));
  }
};

std::optional<Finding> find_in(Json spec, Json condition = nullptr) {
  Registration registration{.kind = {.group = "example.com", .version = "v1", .kind = "Widget"},
                            .resource = "widgets",
                            .policy = std::make_shared<Obeys>()};
  Json object =
      Json::Object{{"apiVersion", "example.com/v1"},
                   {"kind", "Widget"},
                   {"metadata", Json::Object{{"name", "w"}, {"namespace", "team"}, {"uid", "u1"}, {"generation", 3}}},
                   {"spec", std::move(spec)}};
  if (!condition.is_null()) object.make("status").make("conditions") = Json::Array{std::move(condition)};
  return find(registration, object, noon());
}

Json condition(std::string_view status, std::string_view reason, std::string_view message, int generation) {
  return Json::Object{{"type", "Valid"},
                      {"status", status},
                      {"reason", reason},
                      {"message", message},
                      {"observedGeneration", generation},
                      {"lastTransitionTime", "2030-02-01T00:00:00Z"}};
}

TEST(Finding, AnInvalidObjectGetsAConditionAndAnEvent) {
  std::optional<Finding> finding = find_in(Json::Object{{"refuse", "no"}});
  EXPECT_EQ(finding->condition.dump(), R"({"type":"Valid","status":"False","reason":"Invalid","message":"no in team",)"
                                       R"("lastTransitionTime":"2030-03-01T12:00:00Z","observedGeneration":3})");
  EXPECT_EQ(
      finding->event.dump(),
      R"({"apiVersion":"v1","kind":"Event","metadata":{"generateName":"w-","namespace":"team"},)"
      R"("involvedObject":{"apiVersion":"example.com/v1","kind":"Widget","name":"w","namespace":"team","uid":"u1"},)"
      R"("reason":"Invalid","message":"no in team","type":"Warning",)"
      R"("source":{"component":"fairlead-webhook-controller"},"firstTimestamp":"2030-03-01T12:00:00Z",)"
      R"("lastTimestamp":"2030-03-01T12:00:00Z","count":1})");
  EXPECT_EQ(finding->line, "Widget team/w is invalid: no in team");
}

TEST(Finding, AValidObjectGetsAConditionAlone) {
  std::optional<Finding> finding = find_in(Json::Object());
  EXPECT_EQ(finding->condition["status"].string_or(""), "True");
  EXPECT_EQ(finding->condition["message"].string_or(""), "the object keeps all rules");
  EXPECT_TRUE(finding->event.is_null());
  EXPECT_EQ(finding->line, "Widget team/w is valid");
}

TEST(Finding, NothingIsSaidTwice) {
  EXPECT_FALSE(find_in(Json::Object{{"refuse", "no"}}, condition("False", "Invalid", "no in team", 3)));
  EXPECT_FALSE(find_in(Json::Object(), condition("True", "Valid", "the object keeps all rules", 3)));
}

TEST(Finding, AnotherGenerationWithTheSameVerdictIsNoNews) {
  std::optional<Finding> finding =
      find_in(Json::Object{{"refuse", "no"}}, condition("False", "Invalid", "no in team", 2));
  EXPECT_EQ(finding->condition["observedGeneration"].int_or(0), 3);
  EXPECT_EQ(finding->condition["lastTransitionTime"].string_or(""), "2030-02-01T00:00:00Z");
  EXPECT_TRUE(finding->event.is_null());
}

TEST(Finding, AnotherVerdictOrMessageIsNews) {
  std::optional<Finding> mended = find_in(Json::Object(), condition("False", "Invalid", "no in team", 2));
  EXPECT_EQ(mended->condition["lastTransitionTime"].string_or(""), "2030-03-01T12:00:00Z");
  EXPECT_EQ(mended->event["type"].string_or(""), "Normal");
  EXPECT_EQ(mended->event["reason"].string_or(""), "Valid");
  std::optional<Finding> other =
      find_in(Json::Object{{"refuse", "never"}}, condition("False", "Invalid", "no in team", 2));
  EXPECT_EQ(other->condition["lastTransitionTime"].string_or(""), "2030-02-01T00:00:00Z");
  EXPECT_EQ(other->event["message"].string_or(""), "never in team");
}

TEST(Finding, APolicyThatFailsIsUnknown) {
  std::optional<Finding> finding = find_in(Json::Object{{"refuse", 1}});
  EXPECT_EQ(finding->condition["status"].string_or(""), "Unknown");
  EXPECT_EQ(finding->condition["reason"].string_or(""), "PolicyFailed");
  EXPECT_EQ(finding->line, "Widget team/w cannot be decided on: it is confused");
}

TEST(Finding, AnObjectThatIsBeingDeletedIsLeftAlone) {
  Registration registration{.policy = std::make_shared<Obeys>()};
  Json object = Json::Object{{"spec", Json::Object{{"refuse", "no"}}}};
  EXPECT_TRUE(find(registration, object, noon()));
  object.make("metadata").make("deletionTimestamp") = "2030-02-01T00:00:00Z";
  EXPECT_FALSE(find(registration, object, noon()));
}

TEST(Finding, ALongMessageIsCutBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "ü";
  std::optional<Finding> finding = find_in(Json::Object{{"refuse", text}});
  std::string message(finding->condition["message"].string_or(""));
  EXPECT_EQ(message.size(), 1003u);
  EXPECT_TRUE(message.ends_with("ü…"));
}

}  // namespace
}  // namespace fairlead::webhook

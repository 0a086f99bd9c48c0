#include "terraform/objects/refused_defaults.h"

#include <gtest/gtest.h>

#include "terraform/projection/place.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kPlace = "spec.strategy.rollingUpdate";

kube::Failure refused_for(std::vector<kube::FaultCause> causes) {
  kube::Fault fault{.kind = kube::FaultKind::invalid, .http = 422};
  fault.causes = std::move(causes);
  return fault;
}

kube::FaultCause forbidden(std::string_view field) {
  return {.reason = "FieldValueForbidden", .message = "may not be specified", .field = std::string(field)};
}

Json recreated() { return *Json::parse(R"({"spec":{"strategy":{"type":"Recreate"}}})"); }

std::string found(const kube::Failure& failure, const Json& manifest = recreated(), const Flat& owners = {}) {
  std::string text;
  for (const fields::Path& place : refused_defaults(failure, manifest, owners)) text += text_of_place(place) + " ";
  return text;
}

TEST(RefusedDefaults, AreFieldsOfNobodyBesideWhatTheManifestSays) {
  EXPECT_EQ(found(refused_for({forbidden(kPlace)})), "spec.strategy.rollingUpdate ");
}

TEST(RefusedDefaults, AreNoFieldsOfSomebody) {
  kube::Failure failure = refused_for({forbidden(kPlace)});
  EXPECT_EQ(found(failure, recreated(), {{"spec.strategy.rollingUpdate.maxSurge", "kubectl"}}), "");
  EXPECT_EQ(found(failure, recreated(), {{"spec.strategy.rollingUpdate", "kubectl"}}), "");
  EXPECT_NE(found(failure, recreated(), {{"spec.strategy.rollingUpdates", "kubectl"}, {"spec.strategy", "we"}}), "");
}

TEST(RefusedDefaults, AreNoFieldsOfTheManifest) {
  Json manifest = *Json::parse(R"({"spec":{"strategy":{"type":"Recreate","rollingUpdate":{}}}})");
  EXPECT_EQ(found(refused_for({forbidden(kPlace)}), manifest), "");
}

TEST(RefusedDefaults, AreNoneIfAnythingElseIsWrong) {
  kube::FaultCause missing{.reason = "FieldValueRequired", .message = "Required value", .field = "spec.template"};
  EXPECT_EQ(found(refused_for({forbidden(kPlace), missing})), "");
  // Where the manifest has nothing around the field, it has not changed what the field depends on.
  EXPECT_EQ(found(refused_for({forbidden("spec.template.spec.hostPID")})), "");
  EXPECT_EQ(found(refused_for({forbidden("spec.containers[0].image")})), "");
  EXPECT_EQ(found(refused_for({})), "");
  EXPECT_EQ(found(Error(ErrorKind::unavailable, "connection refused")), "");
}

TEST(RefusedDefaults, AreOwnedWithoutAChange) {
  Json live = *Json::parse(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","managedFields":[{"manager":"we",)"
      R"("operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]},)"
      R"("spec":{"replicas":2,"paused":true,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})");
  std::vector<fields::Path> places{*parse_place(kPlace), *parse_place("spec.paused")};
  EXPECT_EQ(with_ownership_of(places, live, "we").dump(),
            R"({"spec":{"replicas":2,"strategy":{"rollingUpdate":{}},"paused":true},"apiVersion":"apps/v1",)"
            R"("kind":"Deployment","metadata":{"name":"web"}})");
  places = {*parse_place("spec.minReadySeconds")};
  EXPECT_EQ(with_ownership_of(places, live, "we").dump(), "null");
}

}  // namespace
}  // namespace fairlead::terraform

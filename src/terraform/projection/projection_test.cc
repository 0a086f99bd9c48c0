#include "terraform/projection/projection.h"

#include <gtest/gtest.h>

#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

Json parsed(std::string_view text) { return Json::parse(text).value(); }

FieldRules rules_of(std::vector<std::string> ignored, std::vector<std::string> sensitive = {}) {
  return {.ignored = FieldRules::parse(ignored).value(), .sensitive = FieldRules::parse(sensitive).value()};
}

std::string lines(const Flat& flat) {
  std::string text;
  for (const auto& [path, value] : flat) text += path + " = " + value + "\n";
  return text;
}

Json with_fields(std::string_view object, std::string_view fields) {
  Json json = parsed(object);
  json.make("metadata").make("managedFields") = Json::Array{Json::Object{{"manager", tool().field_manager},
                                                                         {"operation", "Apply"},
                                                                         {"apiVersion", "v1"},
                                                                         {"fieldsType", "FieldsV1"},
                                                                         {"fieldsV1", parsed(fields)}}};
  return json;
}

TEST(Projection, HasKeysWithDotsAndItemsOfSets) {
  Json object = with_fields(
      R"({"kind":"ConfigMap","apiVersion":"v1","data":{"config.yaml":"a: 1","n":"80"},
          "metadata":{"finalizers":["example.com/x","other/y"],"labels":{"app.kubernetes.io/name":"web"}}})",
      R"({"f:data":{"f:config.yaml":{},"f:n":{}},
          "f:metadata":{"f:finalizers":{"v:\"example.com/x\"":{}},"f:labels":{"f:app.kubernetes.io/name":{}}}})");
  EXPECT_EQ(lines(projection_of(object, tool().field_manager, {})),
            "data.n = 80\n"
            "data[\"config.yaml\"] = a: 1\n"
            "metadata.finalizers[=\"example.com/x\"] = example.com/x\n"
            "metadata.labels[\"app.kubernetes.io/name\"] = web\n");
}

TEST(Projection, TellsANumberFromItsText) {
  Json object = with_fields(R"({"kind":"Service","apiVersion":"v1","metadata":{},
                               "spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":"80"}],"flag":true}})",
                            R"({"f:spec":{"f:flag":{},"f:ports":{
                               "k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:targetPort":{}}}}})");
  EXPECT_EQ(lines(projection_of(object, tool().field_manager, {})),
            "spec.flag = true\n"
            "spec.ports[port=80,protocol=\"TCP\"].port = 80\n"
            "spec.ports[port=80,protocol=\"TCP\"].targetPort = \"80\"\n");
}

TEST(Projection, KeepsFieldsThatOthersTookSoThatTheirDriftIsSeen) {
  Json object = with_fields(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"a":"theirs","b":"2"}})",
                            R"({"f:data":{"f:b":{}}})");
  EXPECT_EQ(lines(projection_of(object, tool().field_manager, {}, {{"data.a", "ours"}, {"data.gone", "x"}})),
            "data.a = theirs\ndata.b = 2\n");
}

TEST(Projection, LeavesOutIgnoredFieldsAndOurAnnotation) {
  Json object = with_fields(R"({"kind":"Deployment","apiVersion":"apps/v1",
                               "metadata":{"annotations":{"fairlead.dev/terraform-id":"abc"}},
                               "spec":{"replicas":3,"template":{"spec":{"containers":[{"name":"web","image":"x"}]}}}})",
                            R"({"f:metadata":{"f:annotations":{"f:fairlead.dev/terraform-id":{}}},
                               "f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{
                               "k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{}}}}}}})");
  EXPECT_EQ(lines(projection_of(object, tool().field_manager,
                                rules_of({"spec.replicas", "spec.template.spec.containers[?(@.name=='web')].image"}))),
            "spec.template.spec.containers[name=\"web\"].name = web\n");
}

TEST(Projection, HashesTheDataOfSecretsAndSensitiveFields) {
  Json secret = with_fields(R"({"kind":"Secret","apiVersion":"v1","metadata":{},"data":{"password":"aHVudGVyMg=="}})",
                            R"({"f:data":{"f:password":{}}})");
  std::string shown = lines(projection_of(secret, tool().field_manager, {}));
  EXPECT_TRUE(shown.starts_with("data.password = sha256:")) << shown;
  EXPECT_FALSE(shown.contains("aHVudGVy")) << shown;
  Json other = with_fields(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{},"data":{"token":"t0ken","x":"1"}})",
                           R"({"f:data":{"f:token":{},"f:x":{}}})");
  std::string some = lines(projection_of(other, tool().field_manager, rules_of({}, {"data.token"})));
  EXPECT_FALSE(some.contains("t0ken")) << some;
  EXPECT_TRUE(some.contains("data.x = 1\n")) << some;
}

TEST(Projection, HashesTheCopyOfASecretThatKubectlKeeps) {
  Json secret = parsed(R"({"kind":"Secret","apiVersion":"v1","data":{"p":"eA=="},"metadata":{"annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"eA==\"}}","note":"kept"}}})");
  std::string text = with_hashed_secrets(secret, {}).dump();
  EXPECT_FALSE(text.contains("eA==")) << text;
  EXPECT_TRUE(text.contains("kept")) << text;
}

TEST(Owners, NameEveryManagerOfAFieldAndNothingOfTheStatus) {
  Json object = parsed(R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"managedFields":[
    {"manager":"kubectl","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1",
     "fieldsV1":{"f:data":{".":{},"f:a":{}}}},
    {"manager":"fairlead-terraform","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",
     "fieldsV1":{"f:data":{"f:a":{},"f:b":{}}}},
    {"manager":"controller","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","subresource":"status",
     "fieldsV1":{"f:status":{"f:phase":{}}}}]},"data":{"a":"1","b":"2"}})");
  EXPECT_EQ(lines(owners_of(object, {})), "data.a = fairlead-terraform, kubectl\ndata.b = fairlead-terraform\n");
}

}  // namespace
}  // namespace fairlead::terraform

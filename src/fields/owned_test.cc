#include "fields/owned.h"

#include <gtest/gtest.h>

#include "fields/managed_fields.h"

namespace fairlead::fields {
namespace {

Json json(std::string_view text) {
  Result<Json> parsed = Json::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed ? *parsed : Json();
}

FieldSet set_of(std::string_view text) { return *FieldSet::parse(json(text)); }

// A Deployment that "we" applied, as the server returns it: with defaults, and with things of others.
Json live() {
  return json(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n","uid":"u","labels":{"app":"x","other":"y"},
    "managedFields":[{"manager":"we","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{
      "f:metadata":{"f:labels":{"f:app":{}}},
      "f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{},
        "f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{}}}}}}}}}}]},
    "spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},"strategy":{"type":"RollingUpdate"},"template":{"spec":{"containers":[
      {"name":"side","image":"s"},{"name":"c","image":"i","imagePullPolicy":"Always","ports":[{"containerPort":80,"protocol":"TCP"}]}]}}}})");
}

Json configuration() {
  return json(
      R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","namespace":"n","labels":{"app":"x"}},
    "spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]}}}})");
}

TEST(OwnedPart, IsWhatWasApplied) {
  Json part = owned_part(live(), applied_by(live(), "we")->fields);
  EXPECT_EQ(
      part.dump(),
      R"({"metadata":{"labels":{"app":"x"}},"spec":{"replicas":2,"selector":{"matchLabels":{"app":"x"}},"template":{"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80,"protocol":"TCP"}]}]}}}})");
}

TEST(OwnedPart, LeavesOutWhatIsNotThere) {
  EXPECT_EQ(owned_part(json(R"({"a":{"b":1},"l":[1,2,3]})"),
                       set_of(R"({"f:a":{"f:c":{}},"f:l":{"v:2":{},"v:9":{}},"f:z":{}})"))
                .dump(),
            R"({"a":{},"l":[2]})");
}

TEST(IsUnchanged, IsTrueForTheSameAgain) { EXPECT_TRUE(is_unchanged(configuration(), live(), "we")); }

TEST(IsUnchanged, SeesTheOrderOfItems) {
  Json there = json(
      R"({"apiVersion":"v1","kind":"K","metadata":{"name":"x","managedFields":[{"manager":"we","operation":"Apply","apiVersion":"v1",
    "fieldsType":"FieldsV1","fieldsV1":{"f:l":{"v:1":{},"v:2":{}}}}]},"l":[0,2,5,1]})");
  auto wanted = [](int first, int second) {
    return Json(Json::Object{{"apiVersion", "v1"},
                             {"kind", "K"},
                             {"metadata", Json::Object{{"name", "x"}}},
                             {"l", Json::Array{first, second}}});
  };
  EXPECT_TRUE(is_unchanged(wanted(2, 1), there, "we"));
  EXPECT_FALSE(is_unchanged(wanted(1, 2), there, "we"));
  EXPECT_FALSE(is_unchanged(wanted(1, 1), there, "we"));
}

TEST(IsUnchanged, IsFalseForSomebodyElse) { EXPECT_FALSE(is_unchanged(configuration(), live(), "they")); }

struct Change {
  std::string name;
  std::function<void(Json& configuration, Json& live)> make;
};

class AnyChange : public testing::TestWithParam<Change> {};

TEST_P(AnyChange, IsSeen) {
  Json wanted = configuration(), there = live();
  GetParam().make(wanted, there);
  EXPECT_FALSE(is_unchanged(wanted, there, "we"));
}

Json& container(Json& object) {
  return *std::find_if(object.make("spec").make("template").make("spec").make("containers").if_array()->begin(),
                       object.make("spec").make("template").make("spec").make("containers").if_array()->end(),
                       [](const Json& one) { return one["name"].string_or("") == "c"; });
}

INSTANTIATE_TEST_SUITE_P(
    IsUnchanged, AnyChange,
    testing::Values(
        Change{"ValueWanted", [](Json& c, Json&) { c.make("spec").make("replicas") = 3; }},
        Change{"ValueThere", [](Json&, Json& l) { l.make("spec").make("replicas") = 3; }},
        Change{"FieldAdded", [](Json& c, Json&) { c.make("spec").make("paused") = true; }},
        Change{"FieldTheOthersSet", [](Json& c, Json&) { c.make("metadata").make("labels").make("other") = "y"; }},
        Change{"FieldDropped", [](Json& c, Json&) { c.make("spec").if_object()->erase("replicas"); }},
        Change{"FieldGone", [](Json&, Json& l) { l.make("spec").if_object()->erase("replicas"); }},
        Change{"LabelsDropped", [](Json& c, Json&) { c.make("metadata").if_object()->erase("labels"); }},
        Change{"AtomicWhole",
               [](Json&, Json& l) { l.make("spec").make("selector").make("matchLabels").make("more") = "z"; }},
        Change{"ItemValue", [](Json& c, Json&) { container(c).make("image") = "j"; }},
        Change{"ItemGone",
               [](Json&, Json& l) {
                 l.make("spec").make("template").make("spec").make("containers").if_array()->pop_back();
               }},
        Change{"ItemAdded",
               [](Json& c, Json&) {
                 c.make("spec")
                     .make("template")
                     .make("spec")
                     .make("containers")
                     .if_array()
                     ->push_back(Json::Object{{"name", "new"}});
               }},
        Change{"ItemTwice",
               [](Json& c, Json&) {
                 c.make("spec").make("template").make("spec").make("containers").if_array()->push_back(container(c));
               }},
        Change{"ItemDropped", [](Json& c, Json&) { container(c).if_object()->erase("ports"); }},
        Change{"OtherProtocol",
               [](Json& c, Json&) { container(c).make("ports").if_array()->at(0).make("protocol") = "UDP"; }},
        Change{"OtherVersion", [](Json& c, Json&) { c.make("apiVersion") = "apps/v1beta1"; }},
        Change{"OtherName", [](Json& c, Json&) { c.make("metadata").make("name") = "e"; }},
        Change{"Uid", [](Json& c, Json&) { c.make("metadata").make("uid") = "v"; }},
        Change{"Null", [](Json& c, Json&) { c.make("spec").make("replicas") = nullptr; }},
        Change{"OtherType", [](Json& c, Json&) { c.make("spec").make("template") = "text"; }},
        Change{"NoManagedFields", [](Json&, Json& l) { l.make("metadata").if_object()->erase("managedFields"); }},
        Change{"UnreadableManagedFields",
               [](Json&, Json& l) {
                 l.make("metadata").make("managedFields").if_array()->at(0).make("fieldsV1").make("x") = 1;
               }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace fairlead::fields

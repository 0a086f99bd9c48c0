#include "object/definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "object/condition.h"
#include "object/containers.h"

namespace fairlead::object {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json json(std::string_view text) { return *Json::parse(text); }

TEST(Definition, SaysWhatItsKindIs) {
  Json value = json(R"({"spec":{"group":"example.com","scope":"Namespaced",
  "names":{"kind":"Widget","plural":"widgets","singular":"widget"},
  "conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"https://x"}}},
  "versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":false},{"name":"v3"}]}})");
  Definition widgets(value);
  EXPECT_TRUE(widgets.defines("example.com", "Widget"));
  EXPECT_FALSE(widgets.defines("example.org", "Widget"));
  EXPECT_FALSE(widgets.defines("example.com", "Gadget"));
  EXPECT_THAT(widgets.versions(), ElementsAre("v1", "v2", "v3"));
  EXPECT_THAT(widgets.served_versions(), ElementsAre("v1")) << "served is a required field";
  EXPECT_EQ(widgets.schema_of("v1")["type"].string_or(""), "object");
  EXPECT_TRUE(widgets.schema_of("v9").is_null());
  EXPECT_EQ(widgets.conversion_client()["url"].string_or(""), "https://x");
  ASSERT_EQ(widgets.resources().size(), 1);
  EXPECT_EQ(*widgets.resources()[0].path("team", "w"), "/apis/example.com/v1/namespaces/team/widgets/w");
}

TEST(Definition, OfASingleVersionNeverConverts) {
  Json one =
      json(R"({"spec":{"scope":"Cluster","conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"url":"u"}}},
    "versions":[{"name":"v1","served":true}]}})");
  EXPECT_TRUE(Definition(one).conversion_client().is_null());
  EXPECT_FALSE(Definition(one).namespaced());
}

TEST(Definition, OfAnythingElseIsEmpty) {
  for (const char* text : {"7", "{}", R"({"spec":[]})", R"({"spec":{"versions":{"a":1},"names":3}})"}) {
    Json odd = json(text);
    EXPECT_THAT(Definition(odd).resources(), IsEmpty()) << text;
    EXPECT_THAT(Definition(odd).versions(), IsEmpty()) << text;
    EXPECT_TRUE(Definition(odd).version("v1").is_null()) << text;
  }
}

TEST(Keys, OfContainers) {
  EXPECT_TRUE(is_namespace(namespace_key("team")));
  EXPECT_TRUE(is_crd(crd_key("widgets.example.com")));
  EXPECT_EQ(crd_key("widgets.example.com").text(), "CustomResourceDefinition widgets.example.com");
  EXPECT_FALSE(is_namespace({.group = "example.com", .kind = "Namespace", .ns = "", .name = "team"}));
  EXPECT_FALSE(is_crd({.group = "example.com", .kind = "CustomResourceDefinition", .ns = "", .name = "x"}));
}

TEST(Condition, IsFoundByItsType) {
  Json object = json(R"({"status":{"conditions":[{"type":"A","status":"False"},{"type":"B","status":"True"}]}})");
  EXPECT_EQ(condition(object, "B")["status"].string_or(""), "True");
  EXPECT_TRUE(condition(object, "C").is_null());
}

}  // namespace
}  // namespace fairlead::object

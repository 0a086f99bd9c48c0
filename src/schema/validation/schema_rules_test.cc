#include "schema/validation/schema_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::schema {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> flaws(std::string_view text) {
  Result<Json> schema = Json::parse(text);
  EXPECT_TRUE(schema) << text;
  std::vector<std::string> out;
  for (const Cause& cause : flaws_of_schema(*schema, "at")) out.push_back(cause.field + ": " + cause.message);
  return out;
}

TEST(SchemaRules, TakeAStructuralSchema) {
  EXPECT_THAT(flaws(R"({"type":"object","properties":{
    "metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":5}}},
    "port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},
    "any":{"x-kubernetes-preserve-unknown-fields":true},
    "map":{"type":"object","additionalProperties":{"type":"string"}},
    "list":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
            "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}},
    "spec":{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"required":["a"]}]}}})"),
              IsEmpty());
}

TEST(SchemaRules, WantTypesOutsideOfChoices) {
  EXPECT_THAT(flaws(R"({"properties":{"a":{"properties":{}},"l":{"type":"array","items":{}}}})"),
              ElementsAre("at.properties[a].type: Required value: must not be empty for specified object fields",
                          "at.properties[l].items.type: Required value: must not be empty for specified array items",
                          "at.type: Required value: must not be empty at the root"));
  EXPECT_THAT(flaws(R"({"type":"object","properties":{"a":{"type":"string","anyOf":[{"type":"string"}]}}})"),
              ElementsAre("at.properties[a].anyOf[0].type: Forbidden: must be empty to be structural"));
  EXPECT_THAT(flaws(R"({"type":"object","allOf":[{"properties":{"b":{"minLength":1}}}]})"),
              ElementsAre("at.properties[b]: Required value: because it is defined in at.allOf[0].properties[b]"));
  EXPECT_THAT(flaws(R"({"type":"array"})"),
              ElementsAre("at.items: Required value: must be specified",
                          "at.type: Invalid value: \"array\": must be object at the root"));
}

TEST(SchemaRules, KnowWhatKubernetesDoesNotTake) {
  EXPECT_THAT(
      flaws(R"({"type":"object","properties":{"a":{"type":"null"}}})"),
      ElementsAre("at.properties[a].type: Unsupported value: \"null\": supported values: \"array\", \"boolean\", "
                  "\"integer\", \"number\", \"object\", \"string\"",
                  "at.properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative"));
  EXPECT_THAT(
      flaws(R"({"type":"object","properties":{"a":{"type":"array","items":{"type":"string"},"uniqueItems":true,
                        "x-kubernetes-list-type":"map"}}})"),
      ElementsAre("at.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime "
                  "complexity becomes quadratic",
                  "at.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if "
                  "x-kubernetes-list-type is map",
                  "at.properties[a].items.type: Invalid value: \"string\": must be object if parent array's "
                  "x-kubernetes-list-type is map"));
  EXPECT_THAT(
      flaws(R"({"type":"object","properties":{"a":{"type":"string","pattern":"("}}})"),
      ElementsAre("at.properties[a].pattern: Invalid value: \"(\": must be a valid regular expression, but isn't: "
                  "error parsing regexp: missing ): ("));
}

}  // namespace
}  // namespace fairlead::schema

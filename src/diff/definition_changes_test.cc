#include "diff/definition_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fairlead::diff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A CRD with one version, v1, whose spec has this schema.
Json definition(std::string_view spec) {
  std::string text = R"({"spec":{"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,
    "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)";
  return *Json::parse(text + std::string(spec) + R"(}}}}]},"status":{"storedVersions":["v1"]}})");
}

struct Case {
  std::string_view live, wanted;
  std::vector<std::string> found;
};

class DefinitionChangesTest : public testing::TestWithParam<Case> {};

TEST_P(DefinitionChangesTest, ChangesOfASchema) {
  EXPECT_EQ(unsafe_changes(definition(GetParam().live), definition(GetParam().wanted)), GetParam().found);
}

INSTANTIATE_TEST_SUITE_P(
    Table, DefinitionChangesTest,
    testing::Values(
        Case{R"({"type":"object"})", R"({"type":"object"})", {}},
        Case{R"({"type":"string"})", R"({"type":"integer"})", {"v1: spec changes its type from string to integer"}},
        Case{R"({"type":"integer"})", R"({"type":"number"})", {}},
        Case{R"({"type":"integer"})", R"({"x-kubernetes-int-or-string":true})", {}},
        Case{R"({"type":"string","nullable":true})", R"({"type":"string"})", {"v1: spec can no longer be null"}},
        Case{R"({"type":"object","properties":{"a":{"type":"string"}}})",
             R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]})",
             {"v1: spec.a is now required"}},
        Case{R"({"type":"object","properties":{"a":{"type":"string"}}})",
             R"({"type":"object","properties":{"a":{"type":"string","default":"x"}},"required":["a"]})",
             {}},
        Case{R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}})",
             R"({"type":"object","properties":{"a":{"type":"string"}}})",
             {"v1: spec.b is removed"}},
        Case{R"({"type":"object","properties":{"b":{"type":"string"}}})",
             R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})",
             {}},
        Case{R"({"type":"object","x-kubernetes-preserve-unknown-fields":true})",
             R"({"type":"object"})",
             {"v1: spec loses its unknown fields"}},
        Case{R"({"type":"string","enum":["a","b"]})",
             R"({"type":"string","enum":["a","c"]})",
             {"v1: spec no longer accepts \"b\""}},
        Case{R"({"type":"string"})", R"({"type":"string","enum":["a"]})", {"v1: spec now accepts only [\"a\"]"}},
        Case{R"({"type":"string","enum":["a"]})", R"({"type":"string"})", {}},
        Case{R"({"type":"string","pattern":"^a"})",
             R"({"type":"string","pattern":"^b"})",
             {"v1: spec must now match the pattern \"^b\""}},
        Case{R"({"type":"integer","maximum":10})",
             R"({"type":"integer","maximum":5})",
             {"v1: spec changes maximum from 10 to 5"}},
        Case{R"({"type":"integer","maximum":5})", R"({"type":"integer","maximum":10})", {}},
        Case{R"({"type":"integer"})", R"({"type":"integer","minimum":1})", {"v1: spec gets minimum 1"}},
        Case{R"({"type":"string","minLength":1})",
             R"({"type":"string","minLength":2.5})",
             {"v1: spec changes minLength from 1 to 2.5"}},
        Case{R"({"type":"object"})",
             R"({"type":"object","x-kubernetes-validations":[{"rule":"self.a > 1"}]})",
             {"v1: spec has a new rule: self.a > 1"}},
        Case{R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}})",
             R"({"type":"array","items":{"type":"object","properties":{"a":{"type":"boolean"}}},"maxItems":3})",
             {"v1: spec gets maxItems 3", "v1: spec[].a changes its type from string to boolean"}},
        Case{R"({"type":"object","additionalProperties":{"type":"string"}})",
             R"({"type":"object","additionalProperties":{"type":"integer"}})",
             {"v1: spec.* changes its type from string to integer"}},
        Case{R"({"type":"object","additionalProperties":{"type":"string"}})",
             R"({"type":"object"})",
             {"v1: spec no longer accepts fields of any name"}}));

Json with_versions(std::string_view versions, std::string_view stored = "[]") {
  return *Json::parse(R"({"spec":{"scope":"Cluster","versions":)" + std::string(versions) +
                      R"(},"status":{"storedVersions":)" + std::string(stored) + "}}");
}

TEST(DefinitionVersionsTest, AVersionThatGoesAway) {
  EXPECT_THAT(unsafe_changes(with_versions(R"([{"name":"v1","served":true},{"name":"v2","served":true}])", R"(["v1"])"),
                             with_versions(R"([{"name":"v2","served":true}])")),
              ElementsAre("v1: objects may be stored in this version, and it is removed",
                          "v1: this version is no longer served"));
  EXPECT_THAT(unsafe_changes(with_versions(R"([{"name":"v1","served":true}])"),
                             with_versions(R"([{"name":"v1","served":false}])")),
              ElementsAre("v1: this version is no longer served"));
  EXPECT_THAT(unsafe_changes(with_versions(R"([{"name":"v1","served":false}])"), with_versions("[]")), IsEmpty());
}

TEST(DefinitionVersionsTest, AnotherScope) {
  Json live = with_versions("[]"), wanted = with_versions("[]");
  wanted.make("spec").make("scope") = "Namespaced";
  EXPECT_THAT(unsafe_changes(live, wanted), ElementsAre("its scope changes from Cluster to Namespaced"));
}

}  // namespace
}  // namespace fairlead::diff

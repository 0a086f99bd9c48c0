#include "kube/faults/field_error.h"

#include <gtest/gtest.h>

namespace fairlead::kube {
namespace {

TEST(FieldError, tells_the_value_from_what_is_said_about_it) {
  auto check = [](std::string_view message, std::string_view value, std::string_view detail) {
    FieldError error = read_field_error(message);
    EXPECT_EQ(error.value, value) << message;
    EXPECT_EQ(error.detail, detail) << message;
  };
  check(R"(Invalid value: {"a":"}: x","b":[1]}: field is immutable)", R"({"a":"}: x","b":[1]})", "field is immutable");
  check(R"(Invalid value: "a \": b": Value is immutable)", R"("a \": b")", "Value is immutable");
  check("Invalid value: -1.5: too small", "-1.5", "too small");
  check("Invalid value: null: field is immutable", "null", "field is immutable");
  check("Invalid value: zone is immutable", "", "zone is immutable");
  check("Invalid value: v1.LabelSelector{MatchLabels:map[string]string{\"a\":\"b\"}}: field is immutable",
        "v1.LabelSelector{MatchLabels:map[string]string{\"a\":\"b\"}}", "field is immutable");
  check("Forbidden: spec is immutable\n@@ -1,6 +1,6 @@\n-a\n", "", "spec is immutable");
  check(R"(Invalid value: "never ends)", "", R"("never ends)");
  check("", "", "");
}

TEST(FieldError, a_value_says_nothing_about_the_field) {
  EXPECT_TRUE(is_about_immutability("FieldValueInvalid", R"(Invalid value: "b": field is immutable)"));
  EXPECT_FALSE(is_about_immutability("FieldValueInvalid", R"(Invalid value: "immutable": must be a DNS label)"));
  EXPECT_FALSE(is_about_immutability("FieldValueRequired", "Required value: immutable"));
  EXPECT_FALSE(is_about_immutability("FieldValueInvalid", R"(Invalid value: 3: failed rule: self > 4)"));
  EXPECT_TRUE(is_about_immutability("FieldValueInvalid", R"(Invalid value: 3: failed rule: self >= oldSelf)"));
}

TEST(FieldError, long_values_are_cut) {
  std::string list = "[" + std::string(3000, '1') + "]";
  std::string shorter = shorten_field_error("Invalid value: " + list + ": field is immutable");
  EXPECT_LT(shorter.size(), 130u);
  EXPECT_TRUE(shorter.ends_with("…: field is immutable")) << shorter;
  EXPECT_EQ(shorten_field_error("Invalid value: 3: too small"), "Invalid value: 3: too small");
  EXPECT_EQ(shorten_field_error("Forbidden: no\n@@ -1 +1 @@\n-a"), "Forbidden: no");
}

}  // namespace
}  // namespace fairlead::kube

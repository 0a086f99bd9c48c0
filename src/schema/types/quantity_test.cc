#include "schema/types/quantity.h"

#include <gtest/gtest.h>

namespace fairlead::schema {
namespace {

std::string form(std::string_view text, bool whole_milli = false) {
  return canonical_quantity(text, whole_milli).value_or("none");
}

TEST(Quantity, HasOneForm) {
  const std::pair<std::string_view, std::string_view> kForms[] = {
      {"0", "0"},          {"1", "1"},        {"1000m", "1"},   {"0.5", "500m"},      {"1.5", "1500m"},
      {"100", "100"},      {"1000", "1k"},    {"1500", "1500"}, {"1e3", "1e3"},       {"1E3", "1e3"},
      {"12e6", "12e6"},    {"1024Mi", "1Gi"}, {"1Ki", "1Ki"},   {"1000Ki", "1000Ki"}, {"0.5Mi", "512Ki"},
      {"1.5Gi", "1536Mi"}, {"0.5Ki", "512"},  {"-1", "-1"},     {"+1", "1"},          {"1M", "1M"},
      {"1000000", "1M"},   {"0.1m", "100u"},  {"1n", "1n"},     {"0.1n", "1n"},       {"-0", "0"},
      {".5", "500m"},      {"5.", "5"},       {"2Ei", "2Ei"},   {"3E", "3E"},         {"0Gi", "0"},
  };
  for (auto [text, wanted] : kForms) EXPECT_EQ(form(text), wanted) << text;
}

TEST(Quantity, IsRoundedUpToThousandths) {
  EXPECT_EQ(form("0.0001", true), "1m");
  EXPECT_EQ(form("1.0001", true), "1001m");
  EXPECT_EQ(form("250m", true), "250m");
}

TEST(Quantity, IsLeftAloneWhereItIsNone) {
  for (std::string_view text : {"", "x", "1x", "1 Gi", "1.2.3", ".", "Gi", "1e", "1e99", "1e-99", "1Kix", "--1",
                                "99999999999999999999999999999999999999999999"})
    EXPECT_EQ(form(text), "none") << text;
}

}  // namespace
}  // namespace fairlead::schema

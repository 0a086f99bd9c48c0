// Causes of findings, each made to happen in a sandbox as users make it happen, and found there.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "doctor/made_to_happen_testing.h"

namespace fairlead::doctor {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

TEST_F(HealthyCluster, HasNoFindings) {
  EXPECT_EQ(calls(), 1) << "for the instance";
  EXPECT_THAT(codes_found({}), IsEmpty());
  EXPECT_THAT(codes_found({.webhook = "widgets"}), IsEmpty());
  EXPECT_THAT(codes_found({.ns = "operator"}), IsEmpty());
  EXPECT_THAT(codes_found({.object = "widget/one"}), IsEmpty());
  EXPECT_THAT(codes_found({.bundle = manifest::bundle_of(kInstance).objects}), IsEmpty());
}

std::vector<Cause> causes() {
  std::vector<Cause> all;
  for (auto some :
       {causes_of_webhooks, causes_of_outages, causes_of_certificates, causes_of_workloads, causes_of_others})
    std::ranges::move(some(), std::back_inserter(all));
  return all;
}

class MadeToHappen : public HealthyCluster, public testing::WithParamInterface<Cause> {};

TEST_P(MadeToHappen, IsFound) {
  const Cause& cause = GetParam();
  cause.make(*this);
  ASSERT_FALSE(HasFatalFailure());
  std::vector<std::string_view> expected = cause.also;
  expected.push_back(cause.code);
  EXPECT_THAT(codes_found(cause.subject), UnorderedElementsAreArray(expected));
}

// What the sandbox cannot bring about, and the test on a real cluster that does.
struct Elsewhere {
  std::string_view code;
  std::string_view test;
};
constexpr Elsewhere kElsewhere[] = {
    // No controller of the sandbox checks the types of a policy's expressions.
    {.code = "policy-type-errors", .test = "tests/daytwo/doctor_test.py"},
};

TEST(EveryCode, IsMadeToHappen) {
  std::multiset<std::string_view> made;
  for (const Cause& one : causes()) made.insert(one.code);
  for (const Elsewhere& one : kElsewhere) {
    made.insert(one.code);
    std::ifstream test(std::string(FAIRLEAD_SOURCE_DIR "/") + std::string(one.test));
    std::stringstream text;
    text << test.rdbuf();
    EXPECT_THAT(text.str(), testing::HasSubstr(fmt::format("\"{}\"", one.code)));
  }
  EXPECT_THAT(made, testing::ElementsAreArray(codes()));
}

INSTANTIATE_TEST_SUITE_P(Codes, MadeToHappen, testing::ValuesIn(causes()), [](const auto& info) {
  std::string name(info.param.code);
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace fairlead::doctor

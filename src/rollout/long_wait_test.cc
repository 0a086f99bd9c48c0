// How many requests it takes to wait for a webhook that never answers: few, however many objects it blocks, and however
// many webhooks are called through its Service.
#include "base/base64.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

constexpr size_t kFoundation = 6;  // objects beside the widgets
constexpr size_t kKinds = 6;

// Its pod is Ready and does not listen within the hour: nothing in the cluster shows that it cannot work.
std::string operator_and_widgets(std::string_view failure_policy, size_t hooks, size_t widgets,
                                 std::string_view annotation = "listens-after: 1h") {
  std::string text = operator_with(fmt::format("sandbox.fairlead.dev/{}", annotation)) +
                     guards_of_widgets(failure_policy, hooks, [](size_t hook) {
                       return fmt::format("objectSelector: {{matchLabels: {{hook: v{}}}}}", hook);
                     });
  for (size_t i = 0; i < widgets; ++i)
    text += fmt::format(
        "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w-{}, namespace: team, labels: {{hook: "
        "v{}}}}}\n",
        i, i % hooks);
  return text;
}

struct LongWait : RolloutTest, testing::WithParamInterface<std::tuple<std::string_view, size_t, size_t>> {};
INSTANTIATE_TEST_SUITE_P(Guards, LongWait,
                         testing::Combine(testing::Values("Fail", "Ignore"), testing::Values(1, 4),
                                          testing::Values(4, 100)));

TEST_P(LongWait, TenMinutesAreFewRequestsHoweverManyObjectsAndHooksWait) {
  auto [failure_policy, hooks, widgets] = GetParam();
  serve("operator/webhook", std::string(kCertificate));
  Options options;
  options.timeout = std::chrono::minutes(10);
  for (std::string_view kind : {"Widget", "ValidatingWebhookConfiguration"})
    options.timeout_for.emplace(kind, std::chrono::hours(1));
  Ending ending = apply(operator_and_widgets(failure_policy, hooks, widgets), options);
  EXPECT_EQ(ending.how, Ending::How::timed_out) << reports(ending);
  EXPECT_GE(ending.took, std::chrono::minutes(10));
  // None of the widgets is sent before somebody is ready behind the Service, and then one for all of them; with Ignore
  // not even that one, the shadow asks for it.
  size_t without_waiting = kFoundation + 3 * kKinds + 30;
  EXPECT_LE(ending.requests, without_waiting + 200);
  EXPECT_TRUE(seen_.empty());
}

struct SlowOperator : RolloutTest, testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Guards, SlowOperator, testing::Values("Fail", "Ignore"));

TEST_P(SlowOperator, WhatIsGuardedHasTheTimeOfTheOperator) {
  serve("operator/webhook", std::string(kCertificate));
  Ending ending = apply(operator_and_widgets(GetParam(), 1, 2, "ready-after: 9m"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_GT(ending.took, std::chrono::minutes(9));
  EXPECT_EQ(seen_.size(), 2u);
}

TEST_P(SlowOperator, ThatIsStoredOnlyHasItsTimeAsWell) {
  serve("operator/webhook", std::string(kCertificate));
  Options options;
  options.wait = false;
  Ending ending = apply(operator_and_widgets(GetParam(), 1, 2, "ready-after: 9m"), options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_EQ(seen_.size(), 2u);
}

TEST_P(SlowOperator, NobodyWaitsLongerThanForTheOperator) {
  serve("operator/webhook", std::string(kCertificate));
  Ending ending = apply(operator_and_widgets(GetParam(), 1, 2, "ready-after: 1h"));
  EXPECT_EQ(ending.how, Ending::How::timed_out) << reports(ending);
  EXPECT_LT(ending.took, std::chrono::minutes(11) + std::chrono::seconds(10));
}

TEST_P(SlowOperator, WhoSaysHowLongToWaitIsHeard) {
  serve("operator/webhook", std::string(kCertificate));
  Options options;
  for (std::string_view kind : {"Widget", "ValidatingWebhookConfiguration"})
    options.timeout_for.emplace(kind, std::chrono::minutes(2));
  Ending ending = apply(operator_and_widgets(GetParam(), 1, 1, "ready-after: 9m"), options);
  EXPECT_NE(reports(ending).find("2m"), std::string::npos) << reports(ending);
}

}  // namespace
}  // namespace fairlead::rollout

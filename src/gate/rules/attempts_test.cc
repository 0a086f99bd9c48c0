#include "gate/rules/attempts.h"

#include <gmock/gmock.h>

#include "gate/rules/rules_testing.h"

namespace fairlead::gate {
namespace {

// How long the ten retries of a client reach that is held for `held` in each try.
Duration reach(Duration patience, Duration held) {
  TimePoint now;
  for (int tries = 0; tries < kClientRetries; ++tries) {
    now += held;
    if (now >= TimePoint() + patience) break;
    now += retry_after(tries, TimePoint() + patience - now, held);
  }
  return now.time_since_epoch() + held;
}

TEST(RetryAfter, makes_ten_tries_reach_over_the_patience) {
  for (Duration patience : {10s, 30s, 60s, 120s, 300s, 900s})
    for (Duration held : {0s, 2s, 8s}) EXPECT_GE(reach(patience, held), patience) << patience / 1s << " " << held / 1s;
}

TEST(RetryAfter, begins_with_short_steps) {
  std::vector<int64_t> steps;
  Duration passed{};
  for (int tries = 0; tries < kClientRetries; ++tries) {
    steps.push_back(retry_after(tries, 300s - passed, 0s).count());
    passed += std::chrono::seconds(steps.back());
  }
  EXPECT_THAT(steps, testing::ElementsAre(1, 1, 2, 2, 4, 22, 33, 50, 74, 111));
}

TEST(RetryAfter, does_not_make_a_patience_longer_that_is_nearly_over) {
  EXPECT_EQ(retry_after(9, 1s, 0s), 1s);
  EXPECT_EQ(retry_after(9, -5s, 0s), 1s);
  EXPECT_EQ(retry_after(50, 300s, 0s), 5s);
}

TEST(AttemptKey, is_the_same_in_each_try_and_another_for_anything_else) {
  std::string key = attempt_key(widget());
  webhook::Request again = widget();
  again.uid = "2";
  EXPECT_EQ(attempt_key(again), key);
  EXPECT_NE(attempt_key(widget("v")), key);
  EXPECT_NE(attempt_key(widget("w", "other")), key);
  again.user.name = "joe";
  EXPECT_NE(attempt_key(again), key);
  webhook::Request dry = widget();
  dry.dry_run = true;
  EXPECT_NE(attempt_key(dry), key);
}

TEST(AttemptKey, does_not_go_by_generated_names) {
  webhook::Request one = widget("w-abc");
  webhook::Request two = widget("w-def");
  one.object.make("metadata").make("generateName") = "w-";
  two.object.make("metadata").make("generateName") = "w-";
  EXPECT_EQ(attempt_key(one), attempt_key(two));
}

TEST(Attempts, begin_anew_if_the_client_did_not_come_again_in_time) {
  Attempts attempts;
  TimePoint start;
  Attempts::Entry& entry = attempts.at("a", start);
  entry.refusals = 3;
  entry.expected = start + 10s;
  EXPECT_EQ(attempts.at("a", start + 30s).refusals, 3);
  EXPECT_EQ(attempts.at("a", start + 41s).refusals, 0);
  EXPECT_EQ(attempts.at("a", start + 41s).first, start + 41s);
}

TEST(Attempts, forget_what_was_used_longest_ago_when_there_are_too_many) {
  Attempts attempts(2);
  attempts.at("a", {}).refusals = 1;
  attempts.at("b", {}).refusals = 2;
  attempts.at("a", {}).refusals = 3;
  attempts.at("c", {});
  EXPECT_EQ(attempts.size(), 2U);
  EXPECT_EQ(attempts.at("a", {}).refusals, 3);
  EXPECT_EQ(attempts.at("b", {}).refusals, 0);
  attempts.forget("b");
  attempts.forget("nobody");
  EXPECT_EQ(attempts.size(), 1U);
}

}  // namespace
}  // namespace fairlead::gate

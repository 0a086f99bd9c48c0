#include "gate/rules/health.h"

#include <gtest/gtest.h>

namespace fairlead::gate {
namespace {

using namespace std::chrono_literals;
using Kind = Finding::Kind;

const TimePoint kStart = TimePoint() + 1h;
const Patience kPatience;

Finding failing(std::string cause = "service shop/hook has no ready endpoint") {
  return {.kind = Kind::failing, .cause = std::move(cause)};
}

TEST(Health, waits_a_moment_for_the_first_look) {
  Health health(kStart, kStart);
  EXPECT_EQ(health.phase(kPatience, kStart + 900ms), Phase::unseen);
  EXPECT_TRUE(health.is_awaited(kPatience, kStart + 900ms));
  EXPECT_EQ(health.phase(kPatience, kStart + 1s), Phase::unproved);
  EXPECT_FALSE(health.is_awaited(kPatience, kStart + 1s));
}

TEST(Health, is_coming_up_from_its_registration_on_and_then_broken) {
  Health health(kStart, kStart + 10s);
  health.see(failing(), kStart + 11s);
  EXPECT_EQ(health.phase(kPatience, kStart + 4min), Phase::coming_up);
  EXPECT_EQ(health.awaited_until(kPatience), kStart + 5min);
  EXPECT_EQ(health.since(), kStart);
  EXPECT_EQ(health.phase(kPatience, kStart + 5min), Phase::broken);
  EXPECT_FALSE(health.is_awaited(kPatience, kStart + 5min));
}

TEST(Health, is_broken_at_once_if_it_was_registered_long_before_the_gate_began) {
  Health health(kStart - 1h, kStart);
  health.see(failing(), kStart);
  EXPECT_EQ(health.phase(kPatience, kStart), Phase::broken);
}

TEST(Health, has_a_short_patience_with_one_that_worked) {
  Health health(kStart, kStart);
  health.see({.kind = Kind::works}, kStart + 1s);
  EXPECT_EQ(health.phase(kPatience, kStart + 1h), Phase::works);
  health.see(failing(), kStart + 1h);
  EXPECT_EQ(health.phase(kPatience, kStart + 1h + 29s), Phase::gone);
  // Another cause is no new beginning.
  health.see(failing("refused"), kStart + 1h + 20s);
  EXPECT_EQ(health.phase(kPatience, kStart + 1h + 30s), Phase::broken);
  health.see({.kind = Kind::works}, kStart + 2h);
  EXPECT_EQ(health.phase(kPatience, kStart + 2h), Phase::works);
  EXPECT_EQ(health.since(), kStart + 2h);
}

TEST(Health, waits_half_a_minute_where_there_is_doubt) {
  Health health(kStart, kStart + 1s);
  health.see({.kind = Kind::doubtful, .cause = "it has no caBundle yet"}, kStart + 2s);
  EXPECT_EQ(health.phase(kPatience, kStart + 29s), Phase::coming_up);
  EXPECT_EQ(health.awaited_until(kPatience), kStart + 30s);
  EXPECT_EQ(health.since(), kStart);
  EXPECT_EQ(health.phase(kPatience, kStart + 30s), Phase::unproved);
}

TEST(Health, does_not_wait_for_one_that_worked_where_there_is_doubt) {
  Health health(kStart, kStart);
  health.see({.kind = Kind::works}, kStart + 1s);
  health.see({.kind = Kind::doubtful, .cause = "it has no caBundle yet"}, kStart + 2s);
  EXPECT_EQ(health.phase(kPatience, kStart + 2s), Phase::unproved);
}

TEST(Health, lets_pass_what_is_not_proved) {
  Health health(kStart, kStart);
  health.see({.kind = Kind::unproved, .cause = "no answer"}, kStart);
  EXPECT_EQ(health.phase(kPatience, kStart), Phase::unproved);
  EXPECT_FALSE(health.is_awaited(kPatience, kStart));
}

}  // namespace
}  // namespace fairlead::gate

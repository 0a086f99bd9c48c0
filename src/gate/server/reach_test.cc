#include "gate/server/reach.h"

#include "gate/server/gate_testing.h"

namespace fairlead::gate {
namespace {

using testing::HasSubstr;

class ReachTest : public GateTest {
 protected:
  Result<void> reached(Duration within) {
    return loop_.run(await_reach(client_, "fairlead-gate", loop_.now() + within));
  }
  size_t validating_configurations() {
    return send("GET", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")["items"].items().size();
  }
};

TEST_F(ReachTest, waits_until_api_servers_reach_the_gate) {
  start_gate();
  sandbox_.webhooks().stop("fairlead-gate/fairlead-gate");
  TimePoint start = loop_.now();
  auto comes_late = [this]() -> Task<void> {
    (void)co_await sleep_for(loop_, 5s);
    serve_gate();
  };
  Result<void> result;
  auto both = [&]() -> Task<void> {
    Scope scope(loop_, nullptr);
    scope.spawn(comes_late());
    result = co_await await_reach(client_, "fairlead-gate", loop_.now() + 1min);
    co_await scope.join();
  };
  loop_.run(both());
  EXPECT_TRUE(result) << result.error().report();
  EXPECT_GE(loop_.now() - start, 5s);
  EXPECT_EQ(validating_configurations(), 0U);
}

TEST_F(ReachTest, says_why_they_do_not) {
  start_gate();
  sandbox_.webhooks().stop("fairlead-gate/fairlead-gate");
  Result<void> result = reached(10s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::timeout);
  EXPECT_THAT(result.error().report(), HasSubstr("no API server has reached the gate in time\n  because   "));
  EXPECT_THAT(result.error().report(), HasSubstr("next      fairlead gate status"));
  EXPECT_EQ(validating_configurations(), 0U);
}

TEST_F(ReachTest, has_nothing_to_wait_for_without_a_configuration) { EXPECT_TRUE(reached(1s)); }

}  // namespace
}  // namespace fairlead::gate

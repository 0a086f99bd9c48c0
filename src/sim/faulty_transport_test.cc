#include "sim/faulty_transport.h"

#include <gtest/gtest.h>

namespace fairlead::sim {
namespace {

// Counts what reaches it.
class Echo final : public http::Transport {
 public:
  Task<Result<http::Answer>> open(http::Request request) override {
    ++arrived;
    co_return http::Answer{.status = 200, .body = http::body_of(request.target)};
  }
  int arrived = 0;
};

struct Net {
  explicit Net(Rates rates, uint64_t seed = 1, Spared spared = {})
      : history(loop, std::move(spared), true), faulty(loop, history, echo, "client", seed, rates) {}
  ~Net() { loop.run(faulty.stop()); }
  Result<http::Response> send(std::string target = "/x", bool long_lived = false) {
    return loop.run(http::send(faulty, {.target = std::move(target), .long_lived = long_lived}));
  }
  VirtualLoop loop;
  History history;
  Echo echo;
  FaultyTransport faulty;
};

std::vector<Happening> run(Rates rates, uint64_t seed, Spared spared = {}) {
  Net net(rates, seed, std::move(spared));
  for (int i = 0; i < 200; ++i) (void)net.send(fmt::format("/{}", i));
  return net.history.happenings();
}

constexpr Rates kAll = {
    .late = 0.05, .lost_request = 0.05, .lost_answer = 0.05, .repeated = 0.05, .too_many = 0.05, .cut_body = 0.05};

TEST(FaultyTransport, TheSameSeedGivesTheSameTroubles) {
  EXPECT_FALSE(run(kAll, 7).empty());
  EXPECT_EQ(run(kAll, 7), run(kAll, 7));
  EXPECT_NE(run(kAll, 7), run(kAll, 8));
}

TEST(FaultyTransport, SparingARequestLeavesTheOthersAsTheyAre) {
  std::vector<Happening> all = run(kAll, 7);
  std::vector<Happening> fewer = run(kAll, 7, {all.front()});
  all.erase(all.begin());
  EXPECT_EQ(fewer, all);
}

TEST(FaultyTransport, ALostAnswerWasCarriedOutAndALostRequestWasNot) {
  Net loses_answers({.lost_answer = 1});
  Result<http::Response> response = loses_answers.send();
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().message(), "the request may have been carried out: the connection was reset");
  EXPECT_EQ(http::delivery_of(response.error()), http::Delivery::unknown);
  EXPECT_EQ(loses_answers.echo.arrived, 1);
  Net loses_requests({.lost_request = 1});
  ASSERT_FALSE(loses_requests.send());
  EXPECT_EQ(loses_requests.echo.arrived, 0);
}

TEST(FaultyTransport, AStragglerArrivesWhenTheConnectionIsLongGone) {
  Net net({.straggler = 1});
  ASSERT_FALSE(net.send());
  EXPECT_EQ(net.echo.arrived, 0);
  (void)net.loop.run(sleep_for(net.loop, std::chrono::seconds(2)));
  EXPECT_EQ(net.echo.arrived, 1);
}

TEST(FaultyTransport, RepeatsAndCuts) {
  Net repeats({.repeated = 1});
  EXPECT_EQ(repeats.send()->body, "/x");
  EXPECT_EQ(repeats.echo.arrived, 2);
  Net cuts({.cut_body = 1});
  EXPECT_EQ(cuts.send().error().message(), "the connection was cut");
}

TEST(FaultyTransport, AnswersForTheServer) {
  EXPECT_EQ(Net({.too_many = 1}).send()->status, 429);
  EXPECT_EQ(Net({.server_error = 1}).send()->status, 500);
  EXPECT_EQ(Net({.not_available = 1}).send()->status, 503);
  Net expires({.expired = 1});
  EXPECT_EQ(expires.send("/x", true)->status, 410);
  EXPECT_EQ(expires.send("/x", false)->status, 200);
}

TEST(FaultyTransport, HealedItLeavesEverythingAlone) {
  Net net({.lost_request = 1});
  net.history.heal();
  EXPECT_TRUE(net.send());
}

}  // namespace
}  // namespace fairlead::sim

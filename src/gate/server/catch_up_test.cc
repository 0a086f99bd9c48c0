#include "gate/server/gate_testing.h"

namespace fairlead::gate {
namespace {

using testing::ElementsAre;

using CatchUpTest = GateTest;

// What watches say comes 100 ms late.
class LateWatches final : public http::Transport {
 public:
  LateWatches(Loop& loop, http::Transport& network) : loop_(loop), network_(network) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_watch = request.long_lived;
    CO_TRY_ASSIGN(http::Answer answer, co_await network_.open(std::move(request)));
    if (is_watch) answer.body = std::make_unique<Late>(loop_, std::move(answer.body));
    co_return answer;
  }

 private:
  class Late final : public http::Body {
   public:
    Late(Loop& loop, std::unique_ptr<http::Body> body) : loop_(loop), body_(std::move(body)) {}
    Task<Result<std::optional<std::string>>> read() override {
      Result<std::optional<std::string>> piece = co_await body_->read();
      CO_TRY(co_await sleep_for(loop_, 100ms));
      co_return piece;
    }

   private:
    Loop& loop_;
    std::unique_ptr<http::Body> body_;
  };

  Loop& loop_;
  http::Transport& network_;
};

TEST_F(CatchUpTest, an_object_may_come_before_the_gate_has_heard_of_its_webhook) {
  LateWatches network(loop_, sandbox_.api_server());
  kube::Client client(loop_, network, nullptr, {});
  start_gate_with(client);
  add_service();
  add_slice("shop", "hook", "10.244.0.9");
  add_configuration();
  Written result = written_while_late(3s);
  EXPECT_TRUE(result.stored) << result.text;
  EXPECT_THAT(reviewed_, ElementsAre("w"));
  kill_gate();
}

TEST_F(CatchUpTest, many_objects_that_nobody_guards_share_a_list_of_configurations) {
  start_gate();
  size_t before = lists_of_configurations_;
  std::vector<Written> results = written_at_once(60, 0s);
  for (const Written& result : results) EXPECT_TRUE(result.stored) << result.text;
  EXPECT_GE(lists_of_configurations_ - before, 2U);
  EXPECT_LE(lists_of_configurations_ - before, 6U);
}

}  // namespace
}  // namespace fairlead::gate

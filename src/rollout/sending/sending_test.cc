// What becomes of an object whose request is not answered, or is answered with "later".
#include "rollout/sending/sending.h"

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::string_view kMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

// The first apply gets the answer that the test chooses; all others go through. Notes when each of them came.
class FirstApply final : public http::Transport {
 public:
  using Happening = std::function<Task<Result<http::Answer>>()>;
  FirstApply(Loop& loop, http::Transport& inner, Happening happening)
      : loop_(loop), inner_(inner), happening_(std::move(happening)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "PATCH") origin.push_back(loop_.now());
    bool is_first = request.method == "PATCH" && origin.size() == 1;
    return is_first ? happening_() : inner_.open(std::move(request));
  }

  std::vector<TimePoint> origin;

 private:
  Loop& loop_;
  http::Transport& inner_;
  Happening happening_;
};

class SendingTest : public RolloutTest {
 protected:
  Ending apply_through(FirstApply& network, const kube::Client::Options& options) {
    kube::Client client(loop_, network, nullptr, options);
    kube::Discovery discovery(client);
    return loop_.run(roll_out(client, discovery, bundle_of(kMap), {}, journal_, nullptr));
  }
};

TEST_F(SendingTest, AnApplyThatIsNeverAnsweredIsSentAgain) {
  FirstApply network(loop_, sandbox_.api_server(), [this]() -> Task<Result<http::Answer>> {
    CO_TRY(co_await sleep_for(loop_, std::chrono::hours(24)));
    co_return fail(ErrorKind::unavailable, "the connection was lost");
  });
  kube::Client::Options options;
  options.request_timeout = seconds(30);
  Ending ending = apply_through(network, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(network.origin.size(), 2u);
  EXPECT_FALSE(get("/api/v1/namespaces/default/configmaps/a").is_null());
}

// Longer than the client waits by itself.
TEST_F(SendingTest, AServerThatSaysHowMuchLaterIsGivenThatTime) {
  FirstApply network(loop_, sandbox_.api_server(), []() -> Task<Result<http::Answer>> {
    co_return http::Answer{.status = 429,
                           .headers = {{"Content-Type", "text/plain"}, {"Retry-After", "90"}},
                           .body = http::body_of("Too many requests, please try again later.\n")};
  });
  Ending ending = apply_through(network, {});
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  ASSERT_EQ(network.origin.size(), 2u);
  EXPECT_GE(network.origin[1] - network.origin[0], seconds(90));
  EXPECT_LT(network.origin[1] - network.origin[0], minutes(2));
}

}  // namespace
}  // namespace fairlead::rollout

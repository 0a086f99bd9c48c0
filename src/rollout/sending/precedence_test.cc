// Objects that pods need are sent before CRDs.
#include "rollout/sending/precedence.h"

#include <gmock/gmock.h>

#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

// Every write takes a while, and those whose target has a certain text take long.
class SlowWrites final : public http::Transport {
 public:
  SlowWrites(Loop& loop, http::Transport& inner) : loop_(loop), inner_(inner) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method != "PATCH") co_return co_await inner_.open(std::move(request));
    std::string path = request.target.substr(0, request.target.find('?'));
    bool is_definition = path.find("customresourcedefinitions") != std::string::npos;
    names.push_back(path.substr(path.rfind('/') + 1));
    began.push_back(loop_.now());
    if (is_definition) most = std::max(most, ++under_way_);
    bool hangs = !hanging.empty() && path.find(hanging) != std::string::npos;
    (void)co_await sleep_for(loop_, hangs ? seconds(5) : milliseconds(20));
    auto answer = co_await inner_.open(std::move(request));
    if (is_definition) --under_way_;
    co_return answer;
  }

  std::string hanging;
  // Of what was written, in order.
  std::vector<std::string> names;
  std::vector<TimePoint> began;
  // CRDs at once.
  int most = 0;

 private:
  Loop& loop_;
  http::Transport& inner_;
  int under_way_ = 0;
};

class PrecedenceTest : public RolloutTest {
 protected:
  Ending apply_slowly(const std::string& yaml) { return apply_through(slow_, yaml); }
  SlowWrites slow_{loop_, sandbox_.api_server()};
};

TEST_F(PrecedenceTest, WhatPodsStandOnGoesBeforeDefinitions) {
  std::string bundle;
  for (const char* name : {"one", "two", "three", "four", "five", "six"}) bundle += definition_of(name);
  Ending ending = apply_slowly(bundle + "---" + operator_that_listens_after("0s"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  ASSERT_EQ(slow_.names.size(), 9u);
  std::vector<std::string> first(slow_.names.begin(), slow_.names.begin() + 4);
  EXPECT_THAT(first, ElementsAre("operator", "webhook", "operator", "ones.example.com"));
  EXPECT_EQ(slow_.most, 4);
}

TEST_F(PrecedenceTest, WhatDoesNotGoInKeepsNobodyWaiting) {
  slow_.hanging = "/namespaces/operator";
  Ending ending = apply_slowly(definition_of("one") + "---" + operator_that_listens_after("0s"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  ASSERT_GE(slow_.names.size(), 2u);
  EXPECT_EQ(slow_.names[1], "ones.example.com");
  EXPECT_EQ(slow_.began[1] - slow_.began[0], milliseconds(500));
}

// The other way round it would wait for nothing but time.
TEST_F(PrecedenceTest, AWorkloadThatNeedsADefinitionIsNotWaitedFor) {
  std::string workload = "---" + operator_that_listens_after("0s");
  workload.replace(workload.find("metadata: {name: operator, namespace: operator}"), 47,
                   "metadata: {name: operator, namespace: operator, annotations: {fairlead.dev/needs: "
                   "CustomResourceDefinition/ones.example.com}}");
  Ending ending = apply_slowly(definition_of("one") + workload);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  ASSERT_GE(slow_.names.size(), 2u);
  EXPECT_EQ(slow_.began[1], slow_.began[0]);
}

}  // namespace
}  // namespace fairlead::rollout

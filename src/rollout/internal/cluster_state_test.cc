#include "rollout/internal/cluster_state.h"

#include <gtest/gtest.h>

#include "sandbox/sandbox.h"

namespace fairlead::rollout {
namespace {

// Answers the LISTs of one resource itself, and leaves all other requests to the sandbox.
class OneList : public http::Transport {
 public:
  explicit OneList(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (own.empty() || !request.target.contains(own)) co_return co_await to_.open(std::move(request));
    CO_TRY(co_await sleep_for(*loop, delay));
    co_return http::Answer{.status = status, .headers = {{"Content-Type", type}}, .body = http::body_of(body)};
  }
  std::string own, body, type = "application/json";
  int status = 200;
  Loop* loop = nullptr;
  Duration delay = Duration::zero();

 private:
  http::Transport& to_;
};

class ClusterStateTest : public testing::Test {
 protected:
  ClusterStateTest() { lists_.loop = &loop_; }
  ~ClusterStateTest() override { loop_.run(sandbox_.stop()); }

  Result<graph::ClusterState> read() {
    auto known = loop_.run(discovery_.all());
    EXPECT_TRUE(known);
    return loop_.run(read_cluster(client_, **known, notes_, version_));
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_{loop_, {}};
  OneList lists_{sandbox_.api_server()};
  kube::Client client_{loop_, lists_, nullptr, {}};
  kube::Discovery discovery_{client_};
  std::vector<std::string> notes_;
  uint64_t version_ = 0;
};

// LISTs that were read at different versions may arrive in any order.
TEST_F(ClusterStateTest, TheNewestVersionCountsWhicheverListComesLast) {
  ASSERT_TRUE(read());
  uint64_t newest = version_;
  EXPECT_GT(newest, 1U);
  version_ = 0;
  lists_.own = "/validatingwebhookconfigurations";
  lists_.delay = std::chrono::seconds(1);
  lists_.body = R"({"kind":"ValidatingWebhookConfigurationList","apiVersion":"admissionregistration.k8s.io/v1",)"
                R"("metadata":{"resourceVersion":"1"},"items":[]})";
  ASSERT_TRUE(read());
  EXPECT_EQ(version_, newest);
}

TEST_F(ClusterStateTest, WhatWasListedIsKnown) {
  Result<graph::ClusterState> state = read();
  ASSERT_TRUE(state) << state.error().report();
  EXPECT_TRUE(state->namespaces_known && state->services_known && state->policies_known && state->guards_known);
}

TEST_F(ClusterStateTest, AKindThatIsNoLongerServedHasNoObjects) {
  lists_.own = "/validatingadmissionpolicies";
  lists_.status = 404;
  lists_.type = "text/plain; charset=utf-8";
  lists_.body = "404 page not found\n";
  Result<graph::ClusterState> state = read();
  ASSERT_TRUE(state) << state.error().report();
  EXPECT_TRUE(state->policies.empty());
  EXPECT_TRUE(state->policies_known);
  EXPECT_TRUE(state->guards_known);
  EXPECT_TRUE(notes_.empty());
}

}  // namespace
}  // namespace fairlead::rollout

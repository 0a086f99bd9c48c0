// What arrives in another order than it happened, and what earlier runs have left behind.
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

// Answers to requests whose target has this text arrive late.
class LateAnswers final : public http::Transport {
 public:
  LateAnswers(Loop& loop, http::Transport& inner, std::string text)
      : loop_(loop), inner_(inner), text_(std::move(text)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool late = request.target.find(text_) != std::string::npos;
    Result<http::Answer> answer = co_await inner_.open(std::move(request));
    if (late) (void)co_await sleep_for(loop_, seconds(2));
    co_return answer;
  }

 private:
  Loop& loop_;
  http::Transport& inner_;
  std::string text_;
};

std::string definition(std::string_view name) {
  return fmt::format(R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {0}s.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {0}s, singular: {0}, kind: {0}, listKind: {0}List}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
)",
                     name);
}

// The watch, which the other one has started, shows that it is established before its own answer is there.
TEST_F(RolloutTest, WhatAWatchHasShownBeforeTheAnswerCameCounts) {
  LateAnswers late(loop_, sandbox_.api_server(), "/customresourcedefinitions/slows.");
  kube::Client client(loop_, late, nullptr, {});
  kube::Discovery discovery(client);
  Ending ending = loop_.run(
      roll_out(client, discovery, bundle_of(definition("quick") + definition("slow")), {}, journal_, nullptr));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, seconds(60));
}

TEST_F(RolloutTest, ShadowsThatOtherRunsLeftGoOnceTheirTimeIsOver) {
  auto shadow = [&](std::string_view name, std::string_view expires) {
    Json object(
        Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"}, {"kind", "ValidatingWebhookConfiguration"}});
    object.make("metadata") = Json::Object{{"name", name},
                                           {"labels", Json::Object{{"fairlead.dev/shadow", "another"}}},
                                           {"annotations", Json::Object{{"fairlead.dev/expires", expires}}}};
    auto made =
        loop_.run(client_.request({.verb = "create",
                                   .method = "POST",
                                   .target = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                                   .content_type = "application/json",
                                   .body = object.dump()}));
    EXPECT_TRUE(made);
  };
  shadow("0-fairlead-shadow-another-1", "2001-01-01T00:00:00Z");
  shadow("0-fairlead-shadow-another-2", "2999-01-01T00:00:00Z");
  Ending ending = apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  Json left = get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations");
  ASSERT_EQ(left["items"].items().size(), 1u);
  EXPECT_EQ(left["items"].item(0)["metadata"]["name"].string_or(""), "0-fairlead-shadow-another-2");
}

}  // namespace
}  // namespace fairlead::rollout

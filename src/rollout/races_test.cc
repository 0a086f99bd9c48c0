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

// DELETEs take two seconds. `begun` is called for each.
class SlowDeletes final : public http::Transport {
 public:
  SlowDeletes(Loop& loop, http::Transport& inner, std::function<void()> begun)
      : loop_(loop), inner_(inner), begun_(std::move(begun)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.method == "DELETE") {
      begun_();
      EXPECT_TRUE(co_await sleep_for(loop_, seconds(2))) << "cancelled";
    }
    co_return co_await inner_.open(std::move(request));
  }

 private:
  Loop& loop_;
  http::Transport& inner_;
  std::function<void()> begun_;
};

// Requests whose target has this text reach the server a second later, and what a watch shows arrives two seconds later
// than the server shows it.
class LaggingWatches final : public http::Transport {
 public:
  LaggingWatches(Loop& loop, http::Transport& inner, std::string text)
      : loop_(loop), inner_(inner), text_(std::move(text)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_watch = request.long_lived;
    if (request.target.find(text_) != std::string::npos) (void)co_await sleep_for(loop_, seconds(1));
    Result<http::Answer> answer = co_await inner_.open(std::move(request));
    if (answer && is_watch) answer->body = std::make_unique<LateBody>(loop_, std::move(answer->body));
    co_return answer;
  }

 private:
  class LateBody final : public http::Body {
   public:
    LateBody(Loop& loop, std::unique_ptr<http::Body> inner) : loop_(loop), inner_(std::move(inner)) {}
    Task<Result<std::optional<std::string>>> read() override {
      Result<std::optional<std::string>> piece = co_await inner_->read();
      (void)co_await sleep_for(loop_, seconds(2));
      co_return piece;
    }

   private:
    Loop& loop_;
    std::unique_ptr<http::Body> inner_;
  };

  Loop& loop_;
  http::Transport& inner_;
  std::string text_;
};

std::string deployment(std::string_view name, std::string_view image, std::string_view ready_after) {
  return fmt::format(R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {0}}}
spec:
  selector: {{matchLabels: {{app: {0}}}}}
  template:
    metadata: {{labels: {{app: {0}}}, annotations: {{sandbox.fairlead.dev/ready-after: {2}}}}}
    spec: {{containers: [{{name: x, image: "{1}"}}]}}
)",
                     name, image, ready_after);
}

// The watch, which the other Deployment has started, still has the copy of before our write, which was ready.
TEST_F(RolloutTest, WhatAWatchShowsOfBeforeOurWriteDoesNotCount) {
  ASSERT_EQ(apply(deployment("web", "web:1", "1s")).how, Ending::How::done);
  LaggingWatches lagging(loop_, sandbox_.api_server(), "/deployments/web?");
  std::string yaml = deployment("web", "web:2", "30s") + deployment("other", "other:1", "3s");
  Ending ending = apply_through(lagging, yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  Json web = get("/apis/apps/v1/namespaces/default/deployments/web");
  EXPECT_EQ(web["status"]["updatedReplicas"].int_or(0), 1) << events();
  EXPECT_EQ(web["status"]["replicas"].int_or(0), 1) << "it was called ready while pods of its former template ran";
}

// The watch, which the other one has started, shows that it is established before its own answer is there.
TEST_F(RolloutTest, WhatAWatchHasShownBeforeTheAnswerCameCounts) {
  LateAnswers late(loop_, sandbox_.api_server(), "/customresourcedefinitions/slows.");
  Ending ending = apply_through(late, definition_of("quick") + definition_of("slow"));
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

TEST_F(RolloutTest, ADeletionForANewFormEndsThoughTheRunIsStopped) {
  auto job = [](std::string_view image) {
    return fmt::format(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, annotations: {{fairlead.dev/on-immutable: recreate}}}}\n"
        "spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: x, image: {}}}]}}}}}}\n",
        image);
  };
  ASSERT_EQ(apply(job("one")).how, Ending::How::done);
  CancelSource stop;
  SlowDeletes slow(loop_, sandbox_.api_server(), [&] { stop.cancel(); });
  Ending ending = apply_through(slow, job("two"), {.run = "r"}, &stop);
  EXPECT_TRUE(stop.cancelled());
  EXPECT_EQ(ending.how, Ending::How::interrupted) << reports(ending);
}

}  // namespace
}  // namespace fairlead::rollout

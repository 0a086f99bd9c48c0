// One root cause is reported once, with the objects that it blocks.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/base64.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

std::string with_pods_that(std::string_view fail) {
  return operator_with(fmt::format("sandbox.fairlead.dev/fail: {}", fail));
}

// An operator that does not become ready, its webhooks, and 50 objects that they guard.
std::string dead_operator(std::string_view failure_policy, size_t hooks = 1) {
  std::string text = with_pods_that("image-pull") + guards_of_widgets(failure_policy, hooks);
  for (size_t i = 0; i < 50; ++i)
    text += fmt::format("---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {{name: w{}, namespace: team}}\n", i);
  return text;
}

size_t count_of(const Ending& ending, ObjectEnding::State state) {
  return size_t(std::ranges::count(ending.objects, state, &ObjectEnding::state));
}

std::string without_hash(std::string text) {
  for (size_t at = text.find("operator-"); at != std::string::npos; at = text.find("operator-", at + 9)) {
    size_t end = text.find_first_of(" \n", at);
    text.replace(at, end - at, "operator-POD");
  }
  return text;
}

struct RootsTest : RolloutTest, testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Policies, RootsTest, testing::Values("Fail", "Ignore"));

TEST_P(RootsTest, ADeadWebhookIsOneErrorWithItsCauseAndWhatItBlocks) {
  Ending ending = apply(dead_operator(GetParam()), {.timeout = seconds(60)});
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  std::string after = GetParam() == "Ignore" ? " after 1m" : "";
  EXPECT_EQ(without_hash(reports(ending)),
            "error: webhook v0.widgets.example.com (ValidatingWebhookConfiguration widgets) is not answering" + after +
                "\n"
                "  because   service operator/webhook has 0 of 1 endpoints ready\n"
                "  because   Deployment operator/operator is not ready after 1m: 0 of 1 replica is ready\n"
                "  because   pod operator-POD is waiting: ImagePullBackOff (operator:1)\n"
                "  because   Back-off pulling image \"operator:1\": ErrImagePull: not found\n"
                "  from      bundle.yaml:13\n"
                "  next      kubectl -n operator describe pod operator-POD\n");
  ASSERT_EQ(ending.causes.size(), 1u);
  EXPECT_EQ(ending.causes[0].blocks.size(), 50u);
  EXPECT_EQ(count_of(ending, ObjectEnding::State::blocked), 50u);
  EXPECT_EQ(count_of(ending, ObjectEnding::State::not_ready), 1u);
  EXPECT_EQ(count_of(ending, ObjectEnding::State::created), 5u);
  EXPECT_EQ(ending.objects.size(), 56u);
}

TEST_P(RootsTest, WebhooksBehindOneServiceHaveOneCause) {
  Ending ending = apply(dead_operator(GetParam(), 3), {.timeout = seconds(60)});
  ASSERT_EQ(ending.causes.size(), 1u) << reports(ending);
  EXPECT_EQ(ending.causes[0].blocks.size(), 50u);
}

// Operators that were made with the same tool call their webhooks and Services alike.
TEST_F(RolloutTest, TheWebhookThatDoesNotAnswerIsToldFromOneOfTheSameName) {
  std::string other = fmt::format(R"(
apiVersion: v1
kind: Service
metadata: {{name: webhook, namespace: kube-public}}
spec: {{ports: [{{port: 443}}]}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: another}}
webhooks:
- name: v0.widgets.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: kube-public, path: /validate}}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [DELETE], resources: [widgets]}}]
  sideEffects: None
  admissionReviewVersions: [v1]
---
)",
                                  to_base64(kCertificate));
  Ending ending = apply(other + dead_operator("Fail"), {.timeout = seconds(60)});
  EXPECT_THAT(reports(ending),
              HasSubstr("webhook v0.widgets.example.com (ValidatingWebhookConfiguration widgets) is not "
                        "answering"));
  EXPECT_THAT(reports(ending), testing::Not(HasSubstr("ValidatingWebhookConfiguration another")));
}

TEST_F(RolloutTest, AnEndpointsGoneWebhookOfTheClusterIsToldOnce) {
  ASSERT_EQ(apply(with_pods_that("never-ready"), {.wait = false}).how, Ending::How::done);
  std::string yaml = dead_operator("Fail");
  // All but the operator, which is in the cluster already.
  yaml.erase(0, yaml.find("---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}"));
  Ending ending = apply(yaml, {.timeout = seconds(60)});
  ASSERT_EQ(ending.causes.size(), 1u) << reports(ending);
  EXPECT_THAT(reports(ending), HasSubstr("because   service operator/webhook has 0 of 1 endpoints ready\n"));
  EXPECT_EQ(ending.causes[0].blocks.size(), 50u);
}

TEST_F(RolloutTest, ANamespaceThatStaysOnItsWayOutIsToldOnce) {
  std::string held =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team, finalizers: [example.com/x]}\n";
  ASSERT_EQ(apply(held).how, Ending::How::done);
  (void)loop_.run(client_.request({.verb = "delete", .method = "DELETE", .target = "/api/v1/namespaces/team"}));
  std::string yaml;
  for (int i = 0; i < 4; ++i)
    yaml += fmt::format("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: m{}, namespace: team}}\n", i);
  Ending ending = apply(yaml, {.timeout = seconds(20)});
  ASSERT_EQ(ending.causes.size(), 1u) << reports(ending);
  EXPECT_EQ(ending.causes[0].blocks.size(), 4u);
  EXPECT_THAT(reports(ending), HasSubstr("error: namespace team is being deleted"));
  EXPECT_EQ(count_of(ending, ObjectEnding::State::blocked), 4u);
}

// What the API server says about an object itself is told for each.
TEST_F(RolloutTest, RefusalsAreToldOneByOne) {
  Ending ending = apply(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
binaryData: {"x y": ""}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
binaryData: {"x y": ""}
)");
  EXPECT_EQ(ending.causes.size(), 2u) << reports(ending);
  EXPECT_EQ(count_of(ending, ObjectEnding::State::refused), 2u);
}

// A webhook that answers with errors of its own may mean the object.
TEST_F(RolloutTest, DifferentAnswersOfOneWebhookAreToldApart) {
  sandbox_.webhooks().serve("operator/webhook", [](http::Request request) -> Task<Result<http::Response>> {
    Result<Json> review = Json::parse(request.body);
    std::string name((*review)["request"]["name"].string_or(""));
    http::Response reply{.status = 500, .body = "no room for " + (name == "w0" ? name : "the others")};
    reply.headers.set("Content-Type", "text/plain");
    co_return reply;
  });
  std::string yaml = dead_operator("Fail");
  constexpr std::string_view kFail = "sandbox.fairlead.dev/fail: image-pull";
  yaml.replace(yaml.find(kFail), kFail.size(), "");
  Ending ending = apply(yaml, {.timeout = seconds(60)});
  ASSERT_EQ(ending.causes.size(), 2u) << reports(ending);
  EXPECT_THAT(reports(ending), testing::AllOf(HasSubstr("no room for w0"), HasSubstr("no room for the others")));
}

TEST_F(RolloutTest, EveryObjectIsCountedThoughNothingCouldBeSent) {
  Ending ending = apply("apiVersion: example.com/v1\nkind: Unknown\nmetadata: {name: a}\n");
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(count_of(ending, ObjectEnding::State::not_sent), 1u);
}

}  // namespace
}  // namespace fairlead::rollout

#include "rollout/rollout.h"

#include <algorithm>

#include "base/base64.h"
#include "rollout/rollout_testing.h"

namespace fairlead::rollout {
namespace {

// An operator as they are: its pod is Ready 3 s before its webhook listens. The order is the worst there is.
std::string operator_bundle(std::string_view failure_policy, std::string_view listens_after = "3s") {
  return fmt::format(R"(
apiVersion: example.com/v1
kind: Widget
metadata: {{name: one, namespace: team}}
spec: {{size: 1}}
---
apiVersion: example.com/v1
kind: Widget
metadata: {{name: two, namespace: team}}
spec: {{size: 2}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: widgets}}
webhooks:
- name: v.widgets.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: operator, path: /validate}}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}}]
  failurePolicy: {}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: operator, namespace: operator}}
spec:
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata:
      labels: {{app: operator}}
      annotations: {{sandbox.fairlead.dev/listens-after: {}}}
    spec:
      containers: [{{name: operator, image: operator:1, ports: [{{containerPort: 8443}}]}}]
---
apiVersion: v1
kind: Service
metadata: {{name: webhook, namespace: operator}}
spec:
  selector: {{app: operator}}
  ports: [{{port: 443, targetPort: 8443}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{size: {{type: integer}}}}}}}}}}}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: team}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: operator}}
)",
                     to_base64(kCertificate), failure_policy, listens_after);
}

// As charts have it whose certificate comes from elsewhere.
std::string without_certificate(std::string yaml) {
  std::string bundle = to_base64(kCertificate);
  return yaml.replace(yaml.find(bundle), bundle.size(), "Cg==");
}

constexpr std::string_view kAllCreated =
    "Widget team/one created\nWidget team/two created\nValidatingWebhookConfiguration widgets created\n"
    "Deployment operator/operator created\nService operator/webhook created\n"
    "CustomResourceDefinition widgets.example.com created\nNamespace team created\nNamespace operator created\n";

TEST_F(RolloutTest, PlainObjectsNeedOneRequestEach) {
  Ending ending = apply(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {x: "1"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
)");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending);
  EXPECT_EQ(states(ending), "ConfigMap default/a created\nConfigMap default/b created\n");
  EXPECT_EQ(client_.counts().find("apply")->second, 2u);
  EXPECT_LE(ending.requests, 2u + 3 + 30);
}

TEST_F(RolloutTest, AnOperatorAndWhatItGuardsGoInAtOnce) {
  serve("operator/webhook", std::string(kCertificate));
  Ending ending = apply(operator_bundle("Fail"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), kAllCreated) << events();
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, (std::vector<std::string>{"one", "two"}));
}

TEST_F(RolloutTest, NothingSkipsAWebhookThatIgnoresFailures) {
  serve("operator/webhook", std::string(kCertificate));
  Ending ending = apply(operator_bundle("Ignore"));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(states(ending), kAllCreated) << events();
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, (std::vector<std::string>{"one", "two"})) << events();
  EXPECT_TRUE(get("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations")["items"].items().empty());
  // People know the webhook, not the shadow that asked it.
  EXPECT_EQ(events().find(".shadow."), std::string::npos) << events();
}

struct LateCertificate : RolloutTest, testing::WithParamInterface<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Policies, LateCertificate, testing::Values("Fail", "Ignore"));
TEST_P(LateCertificate, IsWaitedFor) {
  serve("operator/webhook", std::string(kCertificate));
  loop_.call_after(std::chrono::seconds(8), [this] {
    Json patch(Json::Array{Json(Json::Object{
        {"op", "add"}, {"path", "/webhooks/0/clientConfig/caBundle"}, {"value", to_base64(kCertificate)}})});
    injector_.spawn([](RolloutTest& test, Json body) -> Task<void> {
      (void)co_await test.client().request(
          {.verb = "patch",
           .method = "PATCH",
           .target = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/widgets",
           .content_type = "application/json-patch+json",
           .body = body.dump()});
    }(*this, std::move(patch)));
  });
  Ending ending = apply(without_certificate(operator_bundle(GetParam())));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  std::ranges::sort(seen_);
  EXPECT_EQ(seen_, (std::vector<std::string>{"one", "two"})) << events();
  loop_.run(injector_.join());
}

TEST_F(RolloutTest, ASecondRunWithANameSendsNothing) {
  serve("operator/webhook", std::string(kCertificate));
  Options options;
  options.name = "widgets";
  Ending first = apply(operator_bundle("Fail"), options);
  EXPECT_EQ(first.how, Ending::How::done) << reports(first) << events();
  uint64_t applied = client_.counts().find("apply")->second;
  Ending second = apply(operator_bundle("Fail"), options);
  EXPECT_EQ(second.how, Ending::How::done) << reports(second);
  EXPECT_EQ(client_.counts().find("apply")->second, applied) << events();
  for (const ObjectEnding& object : second.objects) EXPECT_EQ(name_of(object.state), "unchanged") << object.key.text();
}

TEST_F(RolloutTest, WhatLeftTheManifestsIsPruned) {
  Options options;
  options.name = "shop";
  options.prune = true;
  std::string a = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
  std::string b = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n";
  EXPECT_EQ(apply(a + b, options).how, Ending::How::done);
  Ending ending = apply(a, options);
  EXPECT_EQ(states(ending), "ConfigMap default/a unchanged\nConfigMap default/b removed\n");
  EXPECT_TRUE(get("/api/v1/namespaces/default/configmaps/b").is_null());
}

TEST_F(RolloutTest, ADenialIsToldAndTheOthersGoIn) {
  serve("operator/webhook", std::string(kCertificate));
  std::string yaml = operator_bundle("Fail");
  yaml.replace(yaml.find("{name: one, namespace: team}"), 28, "{name: one, namespace: team, labels: {bad: \"\"}}");
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(reports(ending),
            "error: Widget team/one was not accepted\n"
            "  because   webhook v.widgets.example.com denied the request: it is bad\n"
            "  from      bundle.yaml:2\n");
  EXPECT_EQ(ending.objects[1].state, ObjectEnding::State::created);
}

TEST_F(RolloutTest, AWebhookThatNeverListensIsNamedWithItsCause) {
  Options options;
  options.timeout = std::chrono::seconds(60);
  Ending ending = apply(operator_bundle("Fail", "1h"), options);
  EXPECT_EQ(ending.how, Ending::How::timed_out);
  ASSERT_EQ(ending.causes.size(), 1u) << reports(ending);
  EXPECT_NE(reports(ending).find("webhook v.widgets.example.com"), std::string::npos) << reports(ending);
  EXPECT_EQ(ending.causes[0].blocks.size(), 2u);
  EXPECT_LT(ending.requests, 8u + 3 * 6 + 150) << events();
}

TEST_F(RolloutTest, AFailedJobHoldsWhatNeedsItAndNothingElse) {
  Ending ending = apply(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {sandbox.fairlead.dev/exit-code: "1"}}
    spec: {restartPolicy: Never, containers: [{name: x, image: x}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: after, annotations: {config.kubernetes.io/depends-on: batch/namespaces/default/Job/migrate}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: free}
)");
  EXPECT_EQ(ending.how, Ending::How::failed);
  EXPECT_EQ(states(ending),
            "Job default/migrate not ready (not ready)\nConfigMap default/after blocked (not ready)\n"
            "ConfigMap default/free created\n");
  ASSERT_EQ(ending.causes.size(), 1u);
  EXPECT_EQ(ending.causes[0].blocks.size(), 1u);
}

TEST_F(RolloutTest, ANamespaceOnItsWayOutIsWaitedForAndMadeAgain) {
  std::string yaml =
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n---\n"
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: team}\n";
  EXPECT_EQ(apply(yaml).how, Ending::How::done);
  std::string uid(get("/api/v1/namespaces/team")["metadata"]["uid"].string_or(""));
  (void)loop_.run(client_.request({.verb = "delete", .method = "DELETE", .target = "/api/v1/namespaces/team"}));
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_NE(get("/api/v1/namespaces/team")["metadata"]["uid"].string_or(""), uid);
  EXPECT_FALSE(get("/api/v1/namespaces/team/configmaps/a").is_null());
}

TEST_F(RolloutTest, AnImmutableFieldIsNamedOrTheObjectMadeAgain) {
  auto job = [](std::string_view image, std::string_view annotation) {
    return fmt::format(
        "apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j, annotations: {{{}}}}}\n"
        "spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: x, image: {}}}]}}}}}}\n",
        annotation, image);
  };
  EXPECT_EQ(apply(job("one", "")).how, Ending::How::done);
  Ending refused = apply(job("two", ""));
  EXPECT_EQ(refused.how, Ending::How::failed);
  EXPECT_NE(reports(refused).find("field is immutable"), std::string::npos) << reports(refused);
  Ending made = apply(job("two", "fairlead.dev/on-immutable: recreate"));
  EXPECT_EQ(made.how, Ending::How::done) << reports(made) << events();
}

TEST_F(RolloutTest, StoppedItSaysWhatIsWhere) {
  CancelSource stop;
  loop_.call_after(std::chrono::seconds(2), [&] { stop.cancel(); });
  Ending ending = apply(operator_bundle("Fail", "1h"), {}, &stop);
  EXPECT_EQ(ending.how, Ending::How::interrupted);
  EXPECT_EQ(ending.objects[0].state, ObjectEnding::State::not_sent);
  EXPECT_EQ(ending.objects[5].state, ObjectEnding::State::created);
}

// The sandbox answers within no time at all; this one takes a moment, so that requests have to wait for each other.
class Slow : public http::Transport {
 public:
  Slow(Loop& loop, http::Transport& to) : loop_(loop), to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    CO_TRY(co_await sleep_for(loop_, std::chrono::milliseconds(5)));
    co_return co_await to_.open(std::move(request));
  }

 private:
  Loop& loop_;
  http::Transport& to_;
};

TEST_F(RolloutTest, InterruptedItSendsNoFurtherObjects) {
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += fmt::format("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: cm-{}, namespace: default}}\n---\n", i);
  Slow slow(loop_, sandbox_.api_server());
  kube::Client client(loop_, slow, nullptr, {});
  kube::Discovery discovery(client);
  CancelSource stop;
  journal_.read_by([&](const journal::Event& event) {
    if (event.kind == journal::EventKind::stored && !stop.cancelled()) stop.cancel();
  });
  Ending ending = loop_.run(roll_out(client, discovery, bundle_of(many), {}, journal_, &stop));
  EXPECT_EQ(ending.how, Ending::How::interrupted);
  auto created = std::ranges::count(ending.objects, ObjectEnding::State::created, &ObjectEnding::state);
  EXPECT_GT(created, 0);
  EXPECT_LT(created, 200);
  EXPECT_EQ(std::ranges::count(ending.objects, ObjectEnding::State::not_sent, &ObjectEnding::state), 1000 - created);
}

}  // namespace
}  // namespace fairlead::rollout

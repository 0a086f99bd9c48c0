// What a rollout does when the API server cannot be made to prove a guard: it goes on by what the cluster shows, and
// says so. It never waits for a proof that does not come.
#include <gmock/gmock.h>

#include "base/base64.h"
#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using std::chrono::minutes;
using testing::HasSubstr;

std::string guarded_map(std::string_view failure_policy, int replicas = 1) {
  std::string text = operator_that_listens_after("2s");
  text += fmt::format(R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: maps}}
webhooks:
- name: v.maps.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: operator}}}}
  rules: [{{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}}]
  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: default}}}}
  failurePolicy: {}
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: guarded, namespace: default}}
)",
                      to_base64(kCertificate), failure_policy);
  size_t spec = text.find("spec:\n  selector: {matchLabels");
  text.insert(spec + 6, fmt::format("  replicas: {}\n", replicas));
  return text;
}

// Calls to a pod's own address go unanswered.
class ServicesAlone final : public sandbox::WebhookCaller {
 public:
  explicit ServicesAlone(sandbox::WebhookCaller& services) : services_(services) {}
  Task<Result<http::Response>> post(const sandbox::WebhookEndpoint& endpoint, http::Request request) override {
    if (endpoint.service.empty()) co_return fail(ErrorKind::timeout, "context deadline exceeded");
    co_return co_await services_.post(endpoint, std::move(request));
  }

 private:
  sandbox::WebhookCaller& services_;
};

class NotProved : public RolloutTest, public testing::WithParamInterface<std::string_view> {
 protected:
  NotProved() { serve("operator/webhook", std::string(kCertificate)); }

  // True refuses to create that kind in that namespace.
  void forbid_creating(std::function<bool(std::string_view resource, std::string_view ns)> refuses) {
    sandbox_.core().options.forbids = [refuses = std::move(refuses)](std::string_view user, std::string_view verb,
                                                                     std::string_view, std::string_view resource,
                                                                     std::string_view ns, std::string_view) {
      bool is_us = user == "kubernetes-admin";  // controllers may go on
      return is_us && verb == "create" && refuses(resource, ns);
    };
  }
};
INSTANTIATE_TEST_SUITE_P(Policies, NotProved, testing::Values("Fail", "Ignore"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(NotProved, AServerThatNeverUsesTheShadow) {
  sandbox_.core().options.delays.mutating_webhooks = std::chrono::hours(1);
  sandbox_.core().options.delays.validating_webhooks = std::chrono::hours(1);
  Ending ending = apply(guarded_map(GetParam()));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, minutes(2));
  EXPECT_THAT(events(), HasSubstr("is in effect: the API server did not use new "));
}

TEST_P(NotProved, AUserWhoMayNotSendAnyProbe) {
  forbid_creating([](std::string_view resource, std::string_view) {
    return resource == "runtimeclasses" || resource == "configmaps";
  });
  std::string yaml = guarded_map(GetParam());
  // What such a user may create is guarded as well.
  for (std::string_view word : {"kind: ConfigMap", "resources: [configmaps]"})
    yaml.replace(yaml.find(word), word.size(), word[0] == 'k' ? "kind: Secret" : "resources: [secrets]");
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_THAT(events(), HasSubstr("is in effect: the test request cannot be sent: "));
}

TEST_P(NotProved, NotAUserWhoMayCreateConfigMapsAlone) {
  forbid_creating([](std::string_view resource, std::string_view ns) {
    return resource == "runtimeclasses" || (resource == "configmaps" && ns != "default");
  });
  Ending ending = apply(guarded_map(GetParam()));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_THAT(events(), testing::Not(HasSubstr("not proved")));
  EXPECT_THAT(seen_, testing::ElementsAre("guarded"));
}

// An update is proved by a marker inside the configuration, and for that it has to be read.
TEST_P(NotProved, AnUpdateByAUserWhoMayNotReadIt) {
  std::string former = guarded_map(GetParam());
  former.replace(former.find("operations: [CREATE]"), 20, "operations: [DELETE]");
  ASSERT_EQ(apply(former.substr(0, former.rfind("---"))).how, Ending::How::done) << events();
  sandbox_.core().options.forbids = [](std::string_view user, std::string_view verb, std::string_view,
                                       std::string_view resource, std::string_view, std::string_view) {
    return user == "kubernetes-admin" && (verb == "get" || verb == "list" || verb == "watch") &&
           resource == "validatingwebhookconfigurations";
  };
  Ending ending = apply(guarded_map(GetParam()));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, minutes(1));
  EXPECT_LT(ending.requests, 100u);
  EXPECT_THAT(events(), HasSubstr(" is in effect: "));
  for (const ObjectEnding& object : ending.objects)
    if (object.key.kind == "ValidatingWebhookConfiguration")
      EXPECT_EQ(object.state, ObjectEnding::State::changed) << "it was there before";
}

// As in clusters whose API server is not in the pods' network.
TEST_P(NotProved, EndpointsThatOnlyTheServiceReaches) {
  ServicesAlone caller(sandbox_.webhooks());
  sandbox_.set_webhook_caller(caller);
  Ending ending = apply(guarded_map(GetParam(), 2));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_LT(ending.took, minutes(1));
  bool ignores = GetParam() == "Ignore";
  EXPECT_EQ(events().contains("could not prove that every endpoint of"), ignores) << events();
  EXPECT_THAT(seen_, testing::ElementsAre("guarded"));
}

// The API server skips a webhook that fails open, so that nobody has to wait for its pods.
TEST_F(RolloutTest, AWebhookThatIsOnlyWarnedOfHoldsNothing) {
  serve("operator/webhook", std::string(kCertificate));
  std::string bundle = guarded_map("Ignore");
  constexpr std::string_view kListens = "sandbox.fairlead.dev/listens-after: 2s";
  bundle.replace(bundle.find(kListens), kListens.size(), "sandbox.fairlead.dev/ready-after: 5m");
  Options options;
  options.ignore_policy = IgnorePolicy::warn;
  Ending ending = apply(bundle, options);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  auto stored = std::ranges::find_if(events_, [](const journal::Event& event) {
    return event.kind == journal::EventKind::stored && event.key.name == "guarded";
  });
  ASSERT_NE(stored, events_.end()) << events();
  EXPECT_LT(stored->at, minutes(1)) << events();
  EXPECT_EQ(std::ranges::count(events_, journal::EventKind::parked, &journal::Event::kind), 0) << events();
  EXPECT_GT(ending.took, minutes(4));
}

}  // namespace
}  // namespace fairlead::rollout

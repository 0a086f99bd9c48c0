// A webhook that ignores failures, and whose pods come and go after it was proved to answer.
#include <algorithm>

#include "base/base64.h"
#include "rollout/rollout_testing.h"
#include "sandbox/core/core.h"

namespace fairlead::rollout {
namespace {

using std::chrono::seconds;

// Pods listen 30 s after they are Ready. The ConfigMaps that the webhook guards wait for a Job of 40 s.
std::string guarded_maps(size_t count) {
  std::string text = operator_that_listens_after("30s") + R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: maps}
webhooks:
- name: v.maps.example.com
  clientConfig: {caBundle: CERTIFICATE, service: {name: webhook, namespace: operator}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: default}}
  failurePolicy: Ignore
  sideEffects: None
  admissionReviewVersions: [v1]
---
apiVersion: batch/v1
kind: Job
metadata: {name: first}
spec:
  template:
    metadata: {annotations: {sandbox.fairlead.dev/runs-for: 40s}}
    spec: {restartPolicy: Never, containers: [{name: x, image: x}]}
)";
  text.replace(text.find("CERTIFICATE"), 11, to_base64(kCertificate));
  for (size_t i = 0; i < count; ++i)
    text += fmt::format(
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: map-{}, annotations: "
        "{{config.kubernetes.io/depends-on: batch/namespaces/default/Job/first}}}}\n",
        i);
  return text;
}

class EndpointsTest : public RolloutTest {
 protected:
  EndpointsTest() { serve("operator/webhook", std::string(kCertificate)); }
  void scale(Duration after, int replicas) {
    loop_.call_after(after, [this, replicas] {
      injector_.spawn([](kube::Client& client, int wanted) -> Task<void> {
        (void)co_await client.patch(kDeployments, "operator", "operator", kube::PatchType::merge,
                                    *Json::parse(fmt::format(R"({{"spec":{{"replicas":{}}}}})", wanted)));
      }(client_, replicas));
    });
  }
};

TEST_F(EndpointsTest, OneThatBecomesReadyAfterTheProofIsProvedFirst) {
  scale(seconds(35), 3);
  Ending ending = apply(guarded_maps(20));
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_GT(ending.took, seconds(65)) << events();
}

TEST_F(EndpointsTest, OneThatAnswersDoesNotSpeakForTheOthers) {
  Ending ending = apply(guarded_maps(20) + R"(---
apiVersion: apps/v1
kind: Deployment
metadata: {name: late, namespace: operator}
spec:
  selector: {matchLabels: {app: operator, part: late}}
  template:
    metadata:
      labels: {app: operator, part: late}
      annotations: {sandbox.fairlead.dev/listens-after: 60s}
    spec:
      containers: [{name: operator, image: operator:1, ports: [{containerPort: 8443}]}]
)");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_GT(ending.took, seconds(60)) << events();
}

TEST_F(EndpointsTest, ThoseOfAnotherServiceAreNotAsked) {
  Ending ending = apply(guarded_maps(20) + R"(---
apiVersion: v1
kind: Service
metadata: {name: other, namespace: operator}
spec: {selector: {app: other}, ports: [{port: 443, targetPort: 8443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: other, namespace: operator}
spec:
  selector: {matchLabels: {app: other}}
  template:
    metadata: {labels: {app: other}, annotations: {sandbox.fairlead.dev/listens-after: 1h}}
    spec: {containers: [{name: other, image: other:1, ports: [{containerPort: 8443}]}]}
)");
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_LT(ending.took, seconds(60)) << events();
}

// Notes the addresses that the API server is told to call.
class Addresses final : public http::Transport {
 public:
  explicit Addresses(http::Transport& to) : to_(to) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    if (request.target.contains("/mutatingwebhookconfigurations")) told += request.body;
    co_return co_await to_.open(std::move(request));
  }

  std::string told;

 private:
  http::Transport& to_;
};

TEST_F(EndpointsTest, OnlyThePortOfTheWebhookIsAsked) {
  std::string yaml = guarded_maps(20);
  yaml.replace(yaml.find("  ports: [{port: 443, targetPort: 8443}]\n"), 41,
               "  ports: [{name: metrics, port: 80, targetPort: 9090}, {name: https, port: 443, targetPort: 8443}]\n");
  yaml.replace(yaml.find("spec:\n  selector: {matchLabels"), 5, "spec:\n  replicas: 2");
  Addresses network(sandbox_.api_server());
  Ending ending = apply_through(network, yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_TRUE(network.told.contains(":8443/")) << network.told;
  EXPECT_FALSE(network.told.contains(":9090/")) << network.told;
}

TEST_F(EndpointsTest, OneThatGoesNeedsNoFurtherProof) {
  std::string yaml = guarded_maps(20);
  yaml.replace(yaml.find("spec:\n  selector: {matchLabels"), 5, "spec:\n  replicas: 2");
  scale(seconds(35), 1);
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_LT(ending.took, seconds(45)) << events();
}

TEST_F(EndpointsTest, OneThatComesBackUnderItsAddressIsProvedAgain) {
  std::string yaml = guarded_maps(20) + R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: webhook-1, namespace: operator, labels: {kubernetes.io/service-name: webhook}}
addressType: IPv4
endpoints: [{addresses: [10.244.9.9], conditions: {ready: true}, targetRef: {kind: Pod, name: hook, uid: hook}}]
ports: [{port: 8443, protocol: TCP}]
)";
  yaml.replace(yaml.find("  selector: {app: operator}\n"), 28, "");
  auto set_ready = [this](std::string_view ready) -> Task<void> {
    const object::Resource slices{.group = "discovery.k8s.io",
                                  .version = "v1",
                                  .kind = "EndpointSlice",
                                  .plural = "endpointslices",
                                  .singular = "",
                                  .namespaced = true};
    (void)co_await client_.patch(
        slices, "operator", "webhook-1", kube::PatchType::json,
        *Json::parse(fmt::format(R"([{{"op":"replace","path":"/endpoints/0/conditions/ready","value":{}}}])", ready)));
  };
  loop_.call_after(seconds(30), [&] {
    injector_.spawn(set_ready("false"));
    sandbox_.core().listening_from["hook"] = loop_.now() + seconds(30);
  });
  loop_.call_after(seconds(35), [&] { injector_.spawn(set_ready("true")); });
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  std::erase_if(seen_, [](const std::string& name) { return !name.starts_with("map-"); });
  EXPECT_EQ(seen_.size(), 20u) << events();
}

// Calls `asked` when an endpoint is asked by its own address for the first time, before the API server is told so.
class AtTheFirstEndpoint final : public http::Transport {
 public:
  AtTheFirstEndpoint(http::Transport& to, std::function<Task<void>()> asked) : to_(to), asked_(std::move(asked)) {}
  Task<Result<http::Answer>> open(http::Request request) override {
    bool is_asked =
        request.target.contains("/mutatingwebhookconfigurations") && request.body.contains("https://10.244.9.");
    if (is_asked && !std::exchange(was_asked, true)) co_await asked_();
    co_return co_await to_.open(std::move(request));
  }

  bool was_asked = false;

 private:
  http::Transport& to_;
  std::function<Task<void>()> asked_;
};

std::string ready_endpoint(int number) {
  return fmt::format(
      R"({{"addresses":["10.244.9.{0}"],"conditions":{{"ready":true}},"targetRef":{{"kind":"Pod","name":"hook-{0}","uid":"hook-{0}"}}}})",
      number);
}

TEST_F(EndpointsTest, OneThatBecomesReadyWhileTheOthersAreAskedIsAskedToo) {
  std::string yaml = guarded_maps(20) + fmt::format(R"(---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {{name: webhook-1, namespace: operator, labels: {{kubernetes.io/service-name: webhook}}}}
addressType: IPv4
endpoints: [{}, {}]
ports: [{{port: 8443, protocol: TCP}}]
)",
                                                    ready_endpoint(1), ready_endpoint(2));
  yaml.replace(yaml.find("  selector: {app: operator}\n"), 28, "");
  AtTheFirstEndpoint network(sandbox_.api_server(), [this]() -> Task<void> {
    sandbox_.core().listening_from["hook-3"] = loop_.now() + seconds(90);
    (void)co_await client_.request(
        {.method = "PATCH",
         .target = "/apis/discovery.k8s.io/v1/namespaces/operator/endpointslices/webhook-1",
         .content_type = "application/json-patch+json",
         .body = fmt::format(R"([{{"op":"add","path":"/endpoints/-","value":{}}}])", ready_endpoint(3))});
    (void)co_await sleep_for(loop_, seconds(1));
  });
  Ending ending = apply_through(network, yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  EXPECT_TRUE(network.was_asked);
  std::erase_if(seen_, [](const std::string& name) { return !name.starts_with("map-"); });
  EXPECT_EQ(seen_.size(), 20u) << events();
  EXPECT_GT(ending.took, seconds(90));
}

// A Service that leads out of the cluster has no endpoints at all.
TEST_F(EndpointsTest, WhoAnswersWithoutEndpointsNeedsNone) {
  std::string yaml = guarded_maps(3);
  yaml.replace(yaml.find("metadata: {name: webhook, namespace: operator}\nspec:\n  selector: {app: operator}\n"), 81,
               "metadata:\n  name: webhook\n  namespace: operator\n"
               "  annotations: {sandbox.fairlead.dev/backend: '127.0.0.1:8443'}\nspec:\n");
  Ending ending = apply(yaml);
  EXPECT_EQ(ending.how, Ending::How::done) << reports(ending) << events();
  auto is_ours = [](const std::string& name) { return name.starts_with("map-"); };
  EXPECT_EQ(std::ranges::count_if(seen_, is_ours), 3);
  EXPECT_LT(ending.requests, 60u);
}

TEST_F(EndpointsTest, WithNoneLeftObjectsWait) {
  Options options;
  options.timeout = seconds(90);
  scale(seconds(35), 0);
  Ending ending = apply(guarded_maps(1), options);
  EXPECT_EQ(ending.how, Ending::How::timed_out) << events();
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(reports(ending),
            "error: ConfigMap default/map-0 was not accepted within 1m30s\n"
            "  because   webhook v.maps.example.com (ValidatingWebhookConfiguration maps) is not answering\n"
            "  because   service operator/webhook has no endpoints\n"
            "  because   no pod has the labels that it selects: app=operator\n"
            "  from      bundle.yaml:45\n"
            "  next      kubectl -n operator describe service webhook\n");
}

}  // namespace
}  // namespace fairlead::rollout

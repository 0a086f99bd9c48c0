// Helpers for the tests of this room: a sandbox on a virtual loop, webhooks behind pods, bundles as YAML, and rollouts.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "base/base64.h"
#include "manifest/manifest_testing.h"
#include "rollout/rollout.h"
#include "sandbox/sandbox_testing.h"

namespace fairlead::rollout {

using manifest::bundle_of;

using sandbox::kCertificate;

inline const object::Resource kDeployments{.group = "apps",
                                           .version = "v1",
                                           .kind = "Deployment",
                                           .plural = "deployments",
                                           .singular = "",
                                           .namespaced = true};

// A namespace, a Service and pods behind it with these annotations. `spec` are more fields of the Deployment.
inline std::string operator_with(std::string_view annotations, std::string_view spec = "") {
  return fmt::format(R"(
apiVersion: v1
kind: Namespace
metadata: {{name: operator}}
---
apiVersion: v1
kind: Service
metadata: {{name: webhook, namespace: operator}}
spec:
  selector: {{app: operator}}
  ports: [{{port: 443, targetPort: 8443}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: operator, namespace: operator}}
spec:{}
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata:
      labels: {{app: operator}}
      annotations: {{{}}}
    spec:
      containers: [{{name: operator, image: operator:1, ports: [{{containerPort: 8443}}]}}]
)",
                     spec.empty() ? "" : fmt::format("\n  {}", spec), annotations);
}
// Its pods are Ready before they listen.
inline std::string operator_that_listens_after(std::string_view duration) {
  return operator_with(fmt::format("sandbox.fairlead.dev/listens-after: {}", duration));
}

// The CRD of a kind with one version, v1, and no schema. "widget" gives Widgets.
inline std::string definition_of(std::string singular) {
  std::string kind = singular;
  kind[0] = char(std::toupper(kind[0]));
  return fmt::format(R"(---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: {1}s.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: {1}s, singular: {1}, kind: {0}, listKind: {0}List}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}]
)",
                     kind, singular);
}

// A namespace `team`, the CRD of Widgets, and a configuration with webhooks of the operator that guard them. `selector`
// returns more fields for the webhook of that number.
inline std::string guards_of_widgets(std::string_view failure_policy, size_t hooks,
                                     const std::function<std::string(size_t)>& selector = {}) {
  std::string text = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n" + definition_of("widget") + R"(---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
)";
  for (size_t i = 0; i < hooks; ++i)
    text += fmt::format(R"(
- name: v{}.widgets.example.com
  clientConfig: {{caBundle: {}, service: {{name: webhook, namespace: operator, path: /validate}}}}
  rules: [{{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}}]
  {}
  failurePolicy: {}
  sideEffects: None
  admissionReviewVersions: [v1]
)",
                        i, to_base64(kCertificate), selector ? selector(i) : "", failure_policy);
  return text;
}

class RolloutTest : public testing::Test {
 public:
  kube::Client& client() { return client_; }

 protected:
  explicit RolloutTest(sandbox::Options options = {})
      : sandbox_(loop_, std::move(options)),
        client_(loop_, sandbox_.api_server(), nullptr, {}),
        discovery_(client_),
        journal_(loop_.clock()),
        injector_(loop_, nullptr) {
    journal_.read_by([this](const journal::Event& event) { events_.push_back(event); });
  }
  ~RolloutTest() override { loop_.run(sandbox_.stop()); }

  // Serves a webhook behind a Service. It denies objects that have a label `bad`, allows all others, and adds the names
  // of those that were not sent in a dry run to `seen_`.
  void serve(const std::string& service, std::string ca_bundle = {}) {
    sandbox_.webhooks().serve(
        service,
        [this, service](http::Request request) -> Task<Result<http::Response>> {
          Result<Json> review = Json::parse(request.body);
          const Json& asked = (*review)["request"];
          bool bad = asked["object"]["metadata"]["labels"].contains("bad");
          if (!asked["dryRun"].bool_or(false)) seen_.push_back(std::string(asked["name"].string_or("")));
          Json response(Json::Object{{"uid", asked["uid"]}, {"allowed", !bad}});
          if (bad) response.make("status").make("message") = "it is bad";
          Json answer(Json::Object{
              {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
          http::Response reply{.status = 200, .body = answer.dump()};
          reply.headers.set("Content-Type", "application/json");
          co_return reply;
        },
        std::move(ca_bundle));
  }

  Ending apply(std::string_view yaml, Options options = {}, CancelSource* stop = nullptr) {
    options.run = "run" + std::to_string(++runs_);
    events_.clear();
    discovery_known();
    return loop_.run(roll_out(client_, discovery_, bundle_of(yaml), std::move(options), journal_, stop));
  }
  // Rolls out as a new process does, with requests that go through this transport. Leaves `options` as they are.
  Ending apply_through(http::Transport& transport, std::string_view yaml, Options options = {},
                       CancelSource* stop = nullptr) {
    kube::Client client(loop_, transport, nullptr, {});
    kube::Discovery discovery(client);
    return loop_.run(roll_out(client, discovery, bundle_of(yaml), std::move(options), journal_, stop));
  }
  // The same as a dry run.
  Ending rehearse_through(http::Transport& transport, std::string_view yaml, Options options) {
    options.dry_run = true;
    options.run = "rehearsal";
    events_.clear();
    return apply_through(transport, yaml, std::move(options));
  }
  // Lets the next run find kinds that were added since the last one.
  void discovery_known() { (void)loop_.run(discovery_.refresh()); }

  static std::string states(const Ending& ending) {
    std::string text;
    for (const ObjectEnding& object : ending.objects)
      text += fmt::format("{} {}{}\n", object.key.text(), name_of(object.state), object.ready ? "" : " (not ready)");
    return text;
  }
  static std::string reports(const Ending& ending) {
    std::string text;
    for (const Cause& cause : ending.causes) text += cause.error.report();
    return text;
  }
  std::string events() const {
    std::string text;
    for (const journal::Event& event : events_) text += journal::to_json(event).dump() + "\n";
    return text;
  }
  Json get(std::string target) {
    auto reply = loop_.run(client_.request({.target = std::move(target)}));
    return reply ? reply->value : Json();
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  kube::Discovery discovery_;
  journal::Journal journal_;
  // Other actors in the cluster.
  Scope injector_;
  std::vector<journal::Event> events_;
  std::vector<std::string> seen_;
  int runs_ = 0;
};

}  // namespace fairlead::rollout

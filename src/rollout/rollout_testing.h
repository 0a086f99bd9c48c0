// Helpers for the tests of this room: a sandbox on a virtual loop, webhooks behind pods, bundles as YAML, and rollouts.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "async/scope.h"
#include "manifest/collector.h"
#include "rollout/rollout.h"
#include "sandbox/sandbox.h"

namespace fairlead::rollout {

inline manifest::Bundle bundle_of(std::string_view yaml) {
  manifest::Collector collector{manifest::Limits()};
  collector.add(yaml, "bundle.yaml");
  auto bundle = std::move(collector).finish();
  if (!bundle) ADD_FAILURE() << bundle.error().front().report();
  return bundle ? *std::move(bundle) : manifest::Bundle();
}

// The certificate of a webhook. Nobody verifies it.
inline constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

inline const object::Resource kDeployments{.group = "apps",
                                           .version = "v1",
                                           .kind = "Deployment",
                                           .plural = "deployments",
                                           .singular = "",
                                           .namespaced = true};

// A namespace, a Service and pods behind it that are Ready before they listen.
inline std::string operator_that_listens_after(std::string_view duration) {
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
spec:
  selector: {{matchLabels: {{app: operator}}}}
  template:
    metadata:
      labels: {{app: operator}}
      annotations: {{sandbox.fairlead.dev/listens-after: {}}}
    spec:
      containers: [{{name: operator, image: operator:1, ports: [{{containerPort: 8443}}]}}]
)",
                     duration);
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

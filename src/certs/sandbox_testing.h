// Helpers for tests of this room that need a cluster: a sandbox on a virtual loop, with a webhook configuration, and
// proofs that are told what to say.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/base64.h"
#include "certs/certs_testing.h"
#include "certs/engine.h"
#include "kube/client.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox.h"

namespace fairlead::certs {

class FakeProofs final : public Proofs {
 public:
  Task<Result<Evidence>> in_use(std::vector<object::Key> objects) override {
    asked.push_back(fmt::format("in use: {}", objects.size()));
    if (before_answer) before_answer();
    if (meanwhile) co_await meanwhile();
    co_return use;
  }
  Task<Result<Evidence>> served(std::vector<x509::Certificate> roots, admission::ServiceReference service,
                                Duration patience) override {
    asked.push_back(fmt::format("served: {} of {}/{}:{}, {}", roots.size(), service.ns, service.name, service.port,
                                patience > 0s ? "patiently" : "once"));
    if (before_answer) before_answer();
    co_return serving;
  }

  Evidence use{Evidence::Verdict::proved, "seen"};
  Evidence serving{Evidence::Verdict::proved, "seen"};
  std::function<void()> before_answer;
  // What others do while a proof of use is waited for.
  std::function<Task<void>()> meanwhile;
  std::vector<std::string> asked;
};

class CertsTest : public testing::Test {
 protected:
  explicit CertsTest(sandbox::Options options = {})
      : sandbox_(loop_, with_rules(std::move(options))), client_(loop_, sandbox_.api_server(), nullptr, {}) {
    send("POST", "/api/v1/namespaces", R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}})");
  }
  ~CertsTest() override { loop_.run(sandbox_.stop()); }

  sandbox::Options with_rules(sandbox::Options options) {
    options.controllers = false;
    options.forbids = [this](auto, std::string_view verb, auto, std::string_view resource, std::string_view, auto) {
      return forbids && forbids(verb, resource);
    };
    return options;
  }

  Json send(std::string method, std::string path, std::string body = {}, std::string type = "application/json") {
    auto reply = loop_.run(client_.request({.method = method, .target = path, .content_type = type, .body = body}));
    if (!reply) ADD_FAILURE() << method << " " << path << ": " << reply.error().error().report();
    return reply ? reply->value : Json();
  }
  Json secret(std::string name = "hook-cert") { return send("GET", "/api/v1/namespaces/shop/secrets/" + name); }
  bool has_secret(std::string name) { return loop_.run(client_.get(secrets(), "shop", name)).has_value(); }
  // Somebody else writes it into the Secret, which exists.
  void store(const Material& material) {
    Json changed = secret();
    Json& data = changed.make("data");
    data.make(kCertificateFile) = to_base64(x509::to_pem(material.chain));
    data.make(kKeyFile) = to_base64(material.key->to_pem());
    data.make(kCaFile) = to_base64(x509::to_pem(material.bundle));
    send("PUT", "/api/v1/namespaces/shop/secrets/hook-cert", changed.dump());
  }
  void remove_secret(std::string name) { send("DELETE", "/api/v1/namespaces/shop/secrets/" + name); }

  // A hook of a configuration; `config` is what clientConfig has besides the Service.
  static std::string hook(std::string name, std::string service = "hook", std::string config = "") {
    return fmt::format(
        R"({{"name":"{}","clientConfig":{{"service":{{"name":"{}","namespace":"shop","path":"/check"}}{}}},
            "rules":[{{"apiGroups":["shop.example.com"],"apiVersions":["v1"],"operations":["*"],"resources":["*"]}}],
            "failurePolicy":"Fail","sideEffects":"None","admissionReviewVersions":["v1"]}})",
        name, service, config);
  }
  void configure(std::string name, std::vector<std::string> hooks, std::string kind = "Validating",
                 std::string annotations = "{}", std::string manager = "helm") {
    std::string plural = kind == "Validating" ? "validatingwebhookconfigurations" : "mutatingwebhookconfigurations";
    send("POST", fmt::format("/apis/admissionregistration.k8s.io/v1/{}?fieldManager={}", plural, manager),
         fmt::format(R"({{"apiVersion":"admissionregistration.k8s.io/v1","kind":"{}WebhookConfiguration",
             "metadata":{{"name":"{}","annotations":{}}},"webhooks":[{}]}})",
                     kind, name, annotations, fmt::join(hooks, ",")));
  }
  Json configuration(std::string name, std::string plural = "validatingwebhookconfigurations") {
    return send("GET", fmt::format("/apis/admissionregistration.k8s.io/v1/{}/{}", plural, name));
  }
  // The caBundle of a hook, decoded.
  std::string bundle(std::string name, std::string plural = "validatingwebhookconfigurations", size_t index = 0) {
    Json object = configuration(name, plural);
    return from_base64(object["webhooks"].item(index)["clientConfig"]["caBundle"].string_or("")).value_or("");
  }
  static std::string member(std::string_view pem) { return fmt::format(R"(,"caBundle":"{}")", to_base64(pem)); }

  Engine engine(Targets targets = {}) {
    return Engine(client_, spec_, std::move(targets), proofs_,
                  {.say = [this](const std::string& line) { said_.push_back(line); }});
  }
  Ensured ensured(Engine& engine) {
    Result<Ensured> result = loop_.run(engine.ensure());
    if (!result) ADD_FAILURE() << result.error().report();
    return result ? *std::move(result) : Ensured{};
  }
  static std::string shown(const InjectReport& report) {
    std::string text;
    for (const Injection& one : report.places)
      text += fmt::format("{} {}{}{}\n", name_of(one.how), one.place.text(), one.why.empty() ? "" : ": ", one.why);
    for (const std::string& one : report.absent) text += one + "\n";
    for (const std::string& one : report.unreadable) text += one + "\n";
    return text;
  }
  WallTime now() const { return loop_.clock().wall_now(); }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  std::function<bool(std::string_view verb, std::string_view resource)> forbids;
  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  Spec spec_ = hook_spec();
  FakeProofs proofs_;
  std::vector<std::string> said_;
};

}  // namespace fairlead::certs

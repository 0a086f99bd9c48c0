// For the tests of this room: a sandbox on a virtual loop with an operator whose webhook comes late, and a gate in
// front.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "async/scope.h"
#include "base/base64.h"
#include "gate/server/gate.h"
#include "gate/server/registrations.h"
#include "kube/client.h"
#include "sandbox/sandbox.h"

namespace fairlead::gate {

using namespace std::chrono_literals;

inline constexpr std::string_view kTestCertificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

// Answers as addresses are said to be.
class FakeCaller final : public Caller {
 public:
  Task<CallResult> call(CallSpec spec) override {
    ++calls;
    auto found = said.find(fmt::format("{}:{}", spec.address.host, spec.address.port));
    co_return CallResult{.kind = found == said.end() ? otherwise : found->second, .text = "no answer"};
  }

  std::map<std::string, CallResult::Kind> said;
  CallResult::Kind otherwise = CallResult::Kind::refused;
  size_t calls = 0;
};

// What became of a write.
struct Written {
  bool stored = false;
  std::string text;
  Duration took{};
};

class GateTest : public testing::Test {
 protected:
  explicit GateTest(GateOptions options = {})
      : sandbox_(loop_, counting()), client_(loop_, sandbox_.api_server(), nullptr, {}) {
    options.registrar.ns = "fairlead-gate";
    options.registrar.service = admission::ServiceReference{.ns = "fairlead-gate", .name = "fairlead-gate", .path = {}};
    options.pause_waiting = 50ms;
    options.say = [this](std::string_view level, const std::string& line) {
      said_.push_back(fmt::format("{}: {}", level, line));
    };
    options_ = std::move(options);
    for (std::string_view ns : {"shop", "team", "fairlead-gate"})
      post("/api/v1/namespaces", named(ns, "Namespace", "v1"));
    post("/api/v1/namespaces/fairlead-gate/services",
         R"({"metadata":{"name":"fairlead-gate"},"spec":{"clusterIP":"10.96.0.9","ports":[{"port":443}]}})");
    add_slice("fairlead-gate", "fairlead-gate", "10.244.9.9");
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
         R"({"metadata":{"name":"widgets.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Namespaced",
             "names":{"kind":"Widget","plural":"widgets","singular":"widget","listKind":"WidgetList"},
             "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
             {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})");
    pass(100ms);
  }
  ~GateTest() override {
    kill_gate();
    loop_.run(sandbox_.stop());
  }

  sandbox::Options counting() {
    sandbox::Options options;
    options.forbids = [this](std::string_view, std::string_view verb, std::string_view, std::string_view resource,
                             std::string_view, std::string_view) {
      if (verb == "list" && resource.ends_with("webhookconfigurations")) ++lists_of_configurations_;
      return false;
    };
    return options;
  }
  static std::string named(std::string_view name, std::string_view kind, std::string_view version) {
    return fmt::format(R"({{"apiVersion":"{}","kind":"{}","metadata":{{"name":"{}"}}}})", version, kind, name);
  }

  Json send(std::string method, std::string target, std::string body = {}) {
    auto reply = loop_.run(client_.request(
        {.method = method, .target = target, .content_type = "application/json", .body = std::move(body)}));
    if (!reply) ADD_FAILURE() << method << " " << target << ": " << reply.error().error().report();
    return reply ? reply->value : Json();
  }
  Json post(std::string target, std::string body) { return send("POST", std::move(target), std::move(body)); }

  // The gate in front of the sandbox's API server, as that calls it.
  void start_gate() { start_gate_with(client_); }
  void start_gate_with(kube::Client& client) {
    gate_ = std::make_unique<Gate>(client, caller_, options_);
    scope_ = std::make_unique<Scope>(loop_, nullptr);
    scope_->spawn(gate_->run());
    scope_->spawn(keep_registrations(
        client_, *gate_,
        {.leads = [this] { return leads_; }, .ca_bundle = [] { return to_base64(kTestCertificate); }}));
    serve_gate();
    pass(500ms);
  }
  void serve_gate() {
    sandbox_.webhooks().serve("fairlead-gate/fairlead-gate",
                              [this](http::Request request) { return ask(std::move(request)); });
  }
  Task<Result<http::Response>> ask(http::Request request) {
    ++asked_;
    if (frozen_)
      while (true) CO_TRY(co_await sleep_for(loop_, 1h));
    http::Answer answer = co_await gate_->answer(std::move(request));
    answered_at_.push_back(loop_.now());
    Result<std::optional<std::string>> body = co_await answer.body->read();
    co_return http::Response{
        .status = answer.status, .headers = std::move(answer.headers), .body = body ? body->value_or("") : ""};
  }
  // As kill -9: nothing answers any more, and the configurations stay.
  void kill_gate() {
    sandbox_.webhooks().stop("fairlead-gate/fairlead-gate");
    if (!scope_) return;
    scope_->cancel();
    loop_.run(scope_->join());
    scope_.reset();
    gate_.reset();
  }

  // The operator's objects, whose webhook does not listen yet.
  void add_slice(std::string_view ns, std::string_view service, std::string_view address) {
    post(fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", ns),
         fmt::format(R"({{"metadata":{{"name":"{0}-1","labels":{{"kubernetes.io/service-name":"{0}"}}}},
             "addressType":"IPv4","endpoints":[{{"addresses":["{1}"],"conditions":{{"ready":true}}}}],
             "ports":[{{"name":"","port":9443,"protocol":"TCP"}}]}})",
                     service, address));
  }
  void add_service() {
    post("/api/v1/namespaces/shop/services",
         R"({"metadata":{"name":"hook"},"spec":{"clusterIP":"10.96.0.77","ports":[{"port":443,"targetPort":9443}]}})");
  }
  static constexpr std::string_view kGuardsWidgets = R"("apiGroups":["shop.example.com"],"resources":["widgets"])";
  void add_configuration(std::string_view policy = "Fail", std::string_view more = "",
                         std::string_view guarded = kGuardsWidgets,
                         const std::string& bundle = to_base64(kTestCertificate)) {
    post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
         fmt::format(R"({{"metadata":{{"name":"shop"}},"webhooks":[{{"name":"v.shop.example.com","sideEffects":"None",
             "admissionReviewVersions":["v1"],"failurePolicy":"{}"{},
             "clientConfig":{{"service":{{"namespace":"shop","name":"hook","path":"/check"}},"caBundle":"{}"}},
             "rules":[{{{},"apiVersions":["v1"],"operations":["CREATE","UPDATE"]}}]}}]}})",
                     policy, more, bundle, guarded));
  }
  Task<void> put_bundle(std::string bundle) {
    std::string path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/shop";
    auto stored = co_await client_.request({.target = path});
    Json changed = stored ? stored->value : Json();
    changed.make("webhooks").if_array()->front().make("clientConfig").make("caBundle") = bundle;
    (void)co_await client_.request(
        {.method = "PUT", .target = path, .content_type = "application/json", .body = changed.dump()});
  }
  void install_operator(std::string_view policy = "Fail") {
    add_service();
    add_slice("shop", "hook", "10.244.0.9");
    add_configuration(policy);
    pass(200ms);
  }
  void webhook_listens() {
    caller_.said["10.244.0.9:9443"] = CallResult::Kind::answered;
    caller_.said["10.96.0.77:443"] = CallResult::Kind::answered;
    sandbox_.webhooks().serve("shop/hook", [this](http::Request request) -> Task<Result<http::Response>> {
      Result<Json> review = Json::parse(request.body);
      reviewed_.insert(std::string((*review)["request"]["name"].string_or("")));
      reviewed_at_.push_back(loop_.now());
      co_return http::Response{
          .status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = fmt::format(
              R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{{"uid":"{}","allowed":true}}}})",
              (*review)["request"]["uid"].string_or(""))};
    });
  }
  void webhook_stops() {
    caller_.said.clear();
    sandbox_.webhooks().stop("shop/hook");
  }
  Task<void> listen_after(Duration delay) {
    (void)co_await sleep_for(loop_, delay);
    webhook_listens();
  }

  // As kubectl: 429 is tried again ten times.
  Task<void> write(std::string name, Written& into, std::string ns = "team") {
    kube::Client::Options options;
    options.busy_attempts = 11;
    options.busy_time = 1h;
    options.seed = 7;
    kube::Client client(loop_, sandbox_.api_server(), nullptr, options);
    TimePoint begun = loop_.now();
    auto reply = co_await client.request(
        {.method = "POST",
         .target = fmt::format("/apis/shop.example.com/v1/namespaces/{}/widgets", ns),
         .content_type = "application/json",
         .body = fmt::format(R"({{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{{"name":"{}"}}}})",
                             name)});
    into.stored = reply.has_value();
    into.text = reply ? "" : reply.error().error().message();
    into.took = loop_.now() - begun;
  }
  Written written(std::string name = "w") {
    Written result;
    loop_.run(write(std::move(name), result));
    return result;
  }
  // Writes while the webhook comes that late.
  Written written_while_late(Duration late, std::string name = "w") {
    Written result;
    auto both = [&]() -> Task<void> {
      Scope scope(loop_, nullptr);
      scope.spawn(write(name, result));
      scope.spawn(listen_after(late));
      co_await scope.join();
    };
    loop_.run(both());
    return result;
  }

  // The same for a number of clients that write at once.
  std::vector<Written> written_at_once(size_t clients, Duration late) {
    std::vector<Written> results(clients);
    auto all = [&]() -> Task<void> {
      Scope scope(loop_, nullptr);
      for (size_t i = 0; i < clients; ++i) scope.spawn(write(fmt::format("w-{}", i), results[i]));
      scope.spawn(listen_after(late));
      co_await scope.join();
    };
    loop_.run(all());
    return results;
  }

  // Whether a review of a Widget by this user is answered with yes, within a second.
  bool is_let_through(std::string_view user) {
    std::string review = fmt::format(
        R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"1","operation":"CREATE",
            "kind":{{"group":"shop.example.com","version":"v1","kind":"Widget"}},
            "resource":{{"group":"shop.example.com","version":"v1","resource":"widgets"}},"namespace":"team",
            "name":"w","userInfo":{{"username":"{}"}},
            "object":{{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{{"name":"w"}}}}}}}})",
        user);
    Result<http::Response> answer = loop_.run(ask(
        {.method = "POST", .target = std::string(kPath) + "?timeout=1s", .headers = {}, .body = std::move(review)}));
    return answer && answer->body.contains(R"("allowed":true)");
  }

  std::vector<std::string> own_configurations() {
    std::vector<std::string> names;
    Json list = send("GET", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations");
    for (const Json& item : list["items"].items()) names.emplace_back(item["metadata"]["name"].string_or(""));
    return names;
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  kube::Client client_;
  FakeCaller caller_;
  GateOptions options_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<Scope> scope_;
  bool frozen_ = false;
  bool leads_ = true;
  size_t asked_ = 0;
  size_t lists_of_configurations_ = 0;
  std::set<std::string> reviewed_;
  // When the webhook was asked, and when the gate answered.
  std::vector<TimePoint> reviewed_at_;
  std::vector<TimePoint> answered_at_;
  std::vector<std::string> said_;
};

}  // namespace fairlead::gate

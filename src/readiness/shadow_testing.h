// Helpers for the tests of shadows: a sandbox, a client for all of its API servers, and webhooks in this process.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "readiness/shadow.h"
#include "readiness/shadow_objects.h"
#include "sandbox/core/core.h"
#include "sandbox/sandbox.h"

namespace fairlead::readiness {

using namespace std::chrono_literals;
using kube::Outcome, kube::Reply;
using testing::HasSubstr;

// Sends a request with a connection to the API server of that connection, and any other request to the first one. It
// counts requests, can change them, and can leave out an API or lose answers.
class Front final : public http::Transport {
 public:
  explicit Front(sandbox::Sandbox& sandbox) : sandbox_(sandbox) {}

  Task<Result<http::Answer>> open(http::Request request) override {
    requests.push_back(request.method + " " + request.target);
    bool is_lost = loses_answer && loses_answer(request);
    if (!unserved.empty() && request.target.contains(unserved))
      co_return http::Answer{404, {{"Content-Type", "text/plain"}}, http::body_of("404 page not found\n"), 1};
    // The sandbox numbers the connections of its servers from one.
    size_t server = request.connection == 0 ? 0 : request.connection - 1;
    CO_TRY_ASSIGN(http::Answer answer, co_await sandbox_.api_server(server).open(std::move(request)));
    if (is_lost) co_return http::Answer{504, {{"Content-Type", "text/plain"}}, http::body_of("gateway timeout\n"), 1};
    if (!tamper) co_return answer;
    CO_TRY_ASSIGN(std::optional<std::string> body, co_await answer.body->read());
    answer.body = http::body_of(tamper(body.value_or("")));
    co_return answer;
  }

  size_t count(std::string_view method, std::string_view part) const {
    return size_t(std::ranges::count_if(
        requests, [&](const std::string& request) { return request.starts_with(method) && request.contains(part); }));
  }

  std::vector<std::string> requests;
  std::function<std::string(std::string)> tamper;
  // A part of the path of an API that this server does not serve.
  std::string unserved;
  // Which requests are carried out, and end with a 504 all the same.
  std::function<bool(const http::Request&)> loses_answer;

 private:
  sandbox::Sandbox& sandbox_;
};

class ShadowTest : public testing::Test {
 protected:
  explicit ShadowTest(sandbox::Options options = {})
      : sandbox_(loop_, std::move(options)), front_(sandbox_), client_(loop_, front_, nullptr, {}) {}
  ~ShadowTest() override { loop_.run(sandbox_.stop()); }

  static Json parsed(std::string_view json) { return Json::parse(json).value(); }
  template <class T>
  T wait(Task<T> task) {
    return loop_.run(std::move(task));
  }
  Proof proof_of(Task<Outcome<Proof>> task) {
    Outcome<Proof> proof = loop_.run(std::move(task));
    if (proof) return *std::move(proof);
    ADD_FAILURE() << proof.error().error().report();
    return {};
  }
  void pass(Duration time) { (void)loop_.run(sleep_for(loop_, time)); }
  std::unique_ptr<Prover> prover(std::string run = "r", Prover::Options options = {}) {
    options.run = std::move(run);
    return std::make_unique<Prover>(client_, options);
  }

  Outcome<Reply> post(std::string path, Json object, uint64_t connection = 0) {
    return wait(client_.request({.verb = "create",
                                 .method = "POST",
                                 .target = std::move(path),
                                 .content_type = "application/json",
                                 .body = object.dump(),
                                 .connection = connection}));
  }
  void make(std::string path, std::string_view json) {
    Outcome<Reply> reply = post(std::move(path), parsed(json));
    EXPECT_TRUE(reply) << reply.error().error().report();
  }

  // Creates a Service with one ready endpoint, 10.244.0.9:8443.
  void serve(const std::string& name, sandbox::LocalWebhooks::Handler handler, std::string ca = {}) {
    make("/api/v1/namespaces/default/services",
         fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":443,"targetPort":8443}}]}}}})", name));
    make("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
         fmt::format(
             R"({{"metadata":{{"name":"{0}-1","labels":{{"kubernetes.io/service-name":"{0}"}}}},"addressType":"IPv4",
                "endpoints":[{{"addresses":["10.244.0.9"],"conditions":{{"ready":true}}}}],
                "ports":[{{"name":"","port":8443,"protocol":"TCP"}}]}})",
             name));
    sandbox_.webhooks().serve("default/" + name, std::move(handler), std::move(ca));
  }
  static sandbox::LocalWebhooks::Handler answering(std::string_view response) {
    return [json = parsed(response)](http::Request request) -> Task<Result<http::Response>> {
      Json asked = Json::parse(request.body).value();
      Json response_json = json;
      response_json.make("uid") = asked["request"]["uid"];
      Json review = Json::Object{
          {"apiVersion", asked["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", std::move(response_json)}};
      co_return http::Response{200, {{"Content-Type", "application/json"}}, review.dump(), 0};
    };
  }
  static sandbox::LocalWebhooks::Handler answering_http(int status) {
    return [status](http::Request) -> Task<Result<http::Response>> {
      co_return http::Response{status, {{"Content-Type", "text/plain"}}, "no", 0};
    };
  }
  static sandbox::LocalWebhooks::Handler breaking(std::string words) {
    return
        [words](http::Request) -> Task<Result<http::Response>> { co_return fail(ErrorKind::unavailable, "{}", words); };
  }
  sandbox::LocalWebhooks::Handler slow(Duration time) {
    return [this, time](http::Request request) -> Task<Result<http::Response>> {
      CO_TRY(co_await sleep_for(loop_, time));
      co_return co_await answering(R"({"allowed":true})")(std::move(request));
    };
  }
  static Target target(std::string_view service, int seconds = 10) {
    Target target;
    target.name = fmt::format("webhook {}.example.com (config)", service);
    target.client_config = Json::Object{
        {"service", Json::Object{{"namespace", "default"}, {"name", service}, {"path", "/validate"}, {"port", 443}}}};
    target.timeout_seconds = seconds;
    return target;
  }

  // Builds a webhook configuration for ConfigMaps whose Service does not exist. Once it is in effect, it refuses them
  // all.
  static Json guard(std::string_view name, bool mutating = false, std::string_view policy = "Fail") {
    return parsed(fmt::format(
        R"({{"apiVersion":"admissionregistration.k8s.io/v1","kind":"{}WebhookConfiguration","metadata":{{"name":"{}"}},
            "webhooks":[{{"name":"guard.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
            "failurePolicy":"{}","clientConfig":{{"service":{{"namespace":"default","name":"none"}}}},
            "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],"resources":["configmaps"]}}]}}]}})",
        mutating ? "Mutating" : "Validating", name, policy));
  }
  static std::string path_of(bool mutating) {
    return fmt::format("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations",
                       mutating ? "mutating" : "validating");
  }
  // True if the API server of that connection accepts a ConfigMap.
  bool gets_in(uint64_t connection) {
    return post("/api/v1/namespaces/default/configmaps?dryRun=All", parsed(R"({"metadata":{"name":"x"}})"), connection)
        .has_value();
  }
  std::vector<std::string> names_in(std::string_view plural) {
    std::vector<std::string> names;
    for (const auto& [place, object] : sandbox_.core().store.all({"admissionregistration.k8s.io", std::string(plural)}))
      names.push_back(place.name);
    return names;
  }
  std::vector<std::string> shadows() {
    std::vector<std::string> found;
    for (std::string_view plural : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations",
                                    "validatingadmissionpolicies", "validatingadmissionpolicybindings"})
      for (std::string& name : names_in(plural))
        if (name.contains("fairlead")) found.push_back(std::move(name));
    return found;
  }

  VirtualLoop loop_;
  sandbox::Sandbox sandbox_;
  Front front_;
  kube::Client client_;
};

}  // namespace fairlead::readiness

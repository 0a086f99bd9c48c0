#include "sim/webhook.h"

#include <fmt/format.h>

#include <set>

#include "kube/client.h"
#include "sandbox/core/core.h"
#include "scenarios.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr const char* kConfiguration = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/guard";
constexpr uint64_t kObjects = 3;

// Past the network, and again and again where the API has one of its bad days.
Task<void> put_in_place(World& world, std::string method, std::string target, std::string body) {
  while (true) {
    Result<http::Response> response = co_await http::send(
        world.sandbox.api_server(),
        {.method = method, .target = target, .headers = {{"Content-Type", "application/json"}}, .body = body});
    if (response && response->status < 300) co_return;
    if (response && response->status != 403 && response->status != 503)
      co_return world.fail(fmt::format("{}: {}", target, response->body));
    if (!co_await sleep_for(world.loop, 100ms)) co_return;
  }
}

// The Service with an endpoint, and the configuration, which does not trust the webhook yet.
Task<void> install(World& world, uint64_t timeout_seconds) {
  co_await put_in_place(
      world, "POST", "/api/v1/namespaces/default/services",
      R"({"metadata":{"name":"guard"},"spec":{"clusterIP":"10.96.0.77","ports":[{"port":443,"targetPort":8443}]}})");
  co_await put_in_place(
      world, "POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
      R"({"metadata":{"name":"guard-1","labels":{"kubernetes.io/service-name":"guard"}},"addressType":"IPv4",
          "endpoints":[{"addresses":["10.244.0.9"],"conditions":{"ready":true}}],
          "ports":[{"name":"","port":8443,"protocol":"TCP"}]})");
  co_await put_in_place(
      world, "POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
      fmt::format(
          R"({{"metadata":{{"name":"guard"}},"webhooks":[{{"name":"guard.example.com","sideEffects":"None",
              "admissionReviewVersions":["v1"],"timeoutSeconds":{},
              "clientConfig":{{"service":{{"namespace":"default","name":"guard","path":"/validate"}}}},
              "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],
                         "resources":["configmaps"]}}]}}]}})",
          timeout_seconds));
  // Until every API server uses it.
  (void)co_await sleep_for(world.loop, 1s);
}

constexpr const char* kCaBundle = "-----BEGIN CERTIFICATE-----\nsim\n-----END CERTIFICATE-----\n";

// Somebody puts the certificate authority into the configuration, sooner or later.
Task<void> inject(World& world) {
  Random random = world.dice("injector");
  if (!co_await sleep_for(world.loop, some_time(random, 4s))) co_return;
  world.history.note("injector", [] { return "puts the caBundle into the configuration"; });
  sandbox::ObjectPtr now =
      world.sandbox.core().find("admissionregistration.k8s.io", "validatingwebhookconfigurations", "", "guard");
  Json object = *now;
  object.make("webhooks").if_array()->front().make("clientConfig").make("caBundle") =
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCnNpbQotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";
  co_await put_in_place(world, "PUT", kConfiguration, object.dump());
}

using Allowed = std::set<std::string, std::less<>>;

// Allows everything but names that begin with "bad".
sandbox::LocalWebhooks::Handler guard(Allowed& allowed) {
  return [&allowed](http::Request request) -> Task<Result<http::Response>> {
    Result<Json> review = Json::parse(request.body);
    if (!review) co_return fail(ErrorKind::protocol, "that is no AdmissionReview");
    std::string name((*review)["request"]["name"].string_or(""));
    bool good = !name.starts_with("bad");
    if (good) allowed.insert(name);
    Json response(Json::Object{{"uid", (*review)["request"]["uid"]}, {"allowed", good}});
    if (!good) response.make("status") = Json::Object{{"code", 403}, {"message", "a bad name"}};
    Json answer(Json::Object{
        {"apiVersion", (*review)["apiVersion"]}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
    co_return http::Response{
        .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = answer.dump(), .connection = 0};
  };
}

// Applies an object until it is accepted, or denied where it has to be.
Task<void> write(World& world, std::string name, std::string object_name) {
  bool bad = object_name.starts_with("bad");
  kube::Client client(world.loop, world.transport(name), nullptr, client_options(world, name));
  Json object = config_map(object_name, {{"by", name}});
  for (Random random = world.dice(name, 1);;) {
    kube::Outcome<kube::Reply> reply = co_await client.apply(config_maps(), "default", object_name, object);
    if (reply) {
      if (bad) world.fail(fmt::format("{} was accepted, and must not be", object_name));
      co_return;
    }
    const kube::Fault* fault = reply.error().fault();
    if (fault && fault->kind == kube::FaultKind::webhook_denied) {
      if (!bad) world.fail(fmt::format("{} was denied, and must not be: {}", object_name, fault->message));
      co_return;
    }
    bool passes =
        !fault || fault->disposition != kube::Disposition::permanent || fault->kind == kube::FaultKind::forbidden;
    if (!passes) co_return world.fail(fmt::format("{} was given up: {}", object_name, fault->message));
    if (!co_await sleep_for(world.loop, 200ms + some_time(random, 2s))) co_return;
  }
}

Task<void> play(World& world) {
  Random random = world.dice("guard");
  Allowed allowed;
  uint64_t timeout = 1 + random.below(10);
  serve_webhook(world, "default/guard", draw_webhook_weather(random), guard(allowed), kCaBundle);
  co_await install(world, timeout);
  Scope scope(world.loop, co_await current_cancel());
  scope.spawn(inject(world));
  for (uint64_t i = 1; i <= kObjects; ++i) {
    if (!world.history.step("object", i)) continue;
    scope.spawn(write(world, fmt::format("writer-{}", i), fmt::format("{}-{}", i % 3 == 0 ? "bad" : "good", i)));
  }
  Random length = world.dice("length");
  (void)co_await sleep_for(world.loop, 3s + some_time(length, 7s));
  world.heal();
  co_await scope.join();
  (void)co_await sleep_for(world.loop, 10s + world.weather.rates.delay);
  for (const auto& [place, object] : world.sandbox.core().store.all({"", "configmaps"}))
    if (place.ns == "default" && !allowed.contains(place.name))
      world.fail(fmt::format("{} is stored, and the webhook did not allow it", place.name));
}

}  // namespace

Scenario webhook_scenario() { return {.name = "webhook", .play = play}; }

}  // namespace fairlead::sim

#include "gate/server/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/base64.h"
#include "gate/server/registrations.h"
#include "sandbox/core/core.h"
#include "scenarios.h"
#include "sim/machine.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kPem = "-----BEGIN CERTIFICATE-----\nsim\n-----END CERTIFICATE-----\n";
constexpr uint64_t kWrites = 12;
// Both time-outs of the gate, twice, and the steps between them.
constexpr Duration kMostLate = 30s;

// What everybody shares: whether the webhook listens, and what it was asked about.
struct Guard {
  bool listens = false;
  std::set<std::string, std::less<>> asked;
};

// How one replica reaches the webhook.
class Reach final : public gate::Caller {
 public:
  Reach(const Guard& guard, bool believes_doubts) : guard_(guard), believes_doubts_(believes_doubts) {}

  Task<gate::CallResult> call(gate::CallSpec) override {
    using Kind = gate::CallResult::Kind;
    if (shut_out) co_return gate::CallResult{.kind = believes_doubts_ ? Kind::refused : Kind::unsure, .text = "late"};
    co_return gate::CallResult{.kind = guard_.listens ? Kind::answered : Kind::refused, .text = {}};
  }

  // By a NetworkPolicy: packets to the webhook are lost.
  bool shut_out = false;

 private:
  const Guard& guard_;
  bool believes_doubts_;
};

// One process of the gate, from its start until it is killed.
class Replica {
 public:
  Replica(World& world, const std::string& name, const Guard& guard, bool believes_doubts)
      : world_(world),
        reach_(guard, believes_doubts),
        machine_(world.loop, world.transport(name), {}),
        client_(machine_, machine_.network(), nullptr, client_options(world, name)),
        gate_(client_, reach_, options()),
        running_(machine_, nullptr),
        ended_(world.loop) {
    running_.spawn(gate_.run());
    running_.spawn(gate::keep_registrations(
        client_, gate_, {.leads = [this] { return leads; }, .ca_bundle = [] { return to_base64(kPem); }}));
  }

  Task<Result<http::Response>> answer(http::Request request) {
    // A process that stands still takes nothing up.
    while (machine_.paused() && !killed_) CO_TRY(co_await sleep_for(world_.loop, 20ms));
    if (killed_) co_return fail(ErrorKind::unavailable, "EOF");
    CancelSource call(co_await current_cancel());
    auto place = calls_.insert(calls_.end(), &call);
    http::Answer answer = co_await gate_.answer(std::move(request)).governed_by(&call);
    calls_.erase(place);
    ended_.notify_all();
    if (killed_) co_return fail(ErrorKind::unavailable, "EOF");
    Result<std::optional<std::string>> body = co_await answer.body->read();
    co_return http::Response{
        .status = answer.status, .headers = std::move(answer.headers), .body = body ? body->value_or("") : ""};
  }

  Task<void> kill() {
    killed_ = true;
    for (CancelSource* call : calls_) call->cancel();
    while (!calls_.empty()) (void)co_await ended_.wait_uncancelled();
    running_.cancel();
    co_await running_.join();
  }

  void stall(Duration time) { machine_.pause(Machine::Pause::stalled, time); }
  Reach& reach() { return reach_; }
  bool is_alive() const { return !killed_; }

  bool leads = false;

 private:
  static gate::GateOptions options() {
    gate::GateOptions options;
    options.registrar.ns = "gate";
    options.registrar.service = admission::ServiceReference{.ns = "gate", .name = "gate", .path = {}};
    return options;
  }

  World& world_;
  Reach reach_;
  Machine machine_;
  kube::Client client_;
  gate::Gate gate_;
  Scope running_;
  Signal ended_;
  std::list<CancelSource*> calls_;
  bool killed_ = false;
};

// In some runs nothing happens to the gate, and then it has to win.
bool is_calm(const Weather& weather) { return weather.rates.delay == Duration(); }

class GatePlay {
 public:
  GatePlay(World& world, bool believes_doubts)
      : world_(world),
        believes_doubts_(believes_doubts),
        client_(world.loop, world.sandbox.api_server(), nullptr, {}) {}

  Task<void> run() {
    Random random = world_.dice("story");
    bool fails_closed = random.chance(0.5);
    bool is_disturbed = !is_calm(world_.weather);
    comes_after_ = some_time(random, 60s);
    co_await install(fails_closed ? "Fail" : "Ignore");
    for (int i = 0; i < 2; ++i) replicas_.push_back(nullptr);
    for (size_t i = 0; i < replicas_.size(); ++i) start(i);
    serve();
    (void)co_await sleep_for(world_.loop, 5s);
    Scope scope(world_.loop, co_await current_cancel());
    scope.spawn(guard_comes());
    Scope disturbing(world_.loop, nullptr);
    if (is_disturbed)
      for (size_t i = 0; i < replicas_.size(); ++i) disturbing.spawn(disturb(i));
    for (uint64_t i = 1; i <= kWrites; ++i)
      if (world_.history.step("write", i)) scope.spawn(write(i, is_disturbed, fails_closed));
    co_await scope.join();
    disturbing.cancel();
    co_await disturbing.join();
    for (const std::unique_ptr<Replica>& replica : replicas_)
      if (replica && replica->is_alive()) co_await replica->kill();
    world_.sandbox.webhooks().stop("gate/gate");
  }

 private:
  Task<void> put(std::string target, std::string body) {
    auto reply = co_await client_.request(
        {.method = "POST", .target = target, .content_type = "application/json", .body = std::move(body)});
    if (!reply) world_.fail(fmt::format("{}: {}", target, reply.error().error().message()));
  }

  Task<void> install(std::string_view policy) {
    for (auto [ns, service, address] : {std::tuple("gate", "gate", "10.244.0.1"), {"shop", "guard", "10.244.0.2"}}) {
      co_await put("/api/v1/namespaces",
                   fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", ns));
      co_await put(fmt::format("/api/v1/namespaces/{}/services", ns),
                   fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"ports":[{{"port":443}}]}}}})", service));
      co_await put(fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", ns),
                   fmt::format(R"({{"metadata":{{"name":"{0}-1","labels":{{"kubernetes.io/service-name":"{0}"}}}},
                       "addressType":"IPv4","endpoints":[{{"addresses":["{1}"],"conditions":{{"ready":true}}}}],
                       "ports":[{{"name":"","port":443,"protocol":"TCP"}}]}})",
                               service, address));
    }
    co_await put("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                 fmt::format(R"({{"metadata":{{"name":"guard"}},"webhooks":[{{"name":"guard.example.com",
                     "sideEffects":"None","admissionReviewVersions":["v1"],"failurePolicy":"{}","timeoutSeconds":5,
                     "clientConfig":{{"service":{{"namespace":"shop","name":"guard"}},"caBundle":"{}"}},
                     "rules":[{{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],
                                "resources":["configmaps"]}}]}}]}})",
                             policy, to_base64(kPem)));
  }

  void start(size_t index) {
    if (replicas_[index]) graves_.push_back(std::move(replicas_[index]));
    std::string name = fmt::format("gate-{}-{}", index, graves_.size());
    replicas_[index] = std::make_unique<Replica>(world_, name, guard_, believes_doubts_);
    elect();
  }

  void elect() {
    bool has_leader = false;
    for (const std::unique_ptr<Replica>& replica : replicas_)
      if (replica)
        replica->leads = replica->is_alive() && !std::exchange(has_leader, has_leader || replica->is_alive());
  }

  void serve() {
    world_.sandbox.webhooks().serve("gate/gate", [this](http::Request request) -> Task<Result<http::Response>> {
      Replica& replica = *replicas_[turn_++ % replicas_.size()];
      if (!replica.is_alive()) co_return fail(ErrorKind::unavailable, "connect: connection refused");
      co_return co_await replica.answer(std::move(request));
    });
  }

  Task<void> guard_comes() {
    if (!co_await sleep_for(world_.loop, comes_after_)) co_return;
    world_.history.note("guard", [] { return "listens"; });
    guard_.listens = true;
    world_.sandbox.webhooks().serve("shop/guard", [this](http::Request request) -> Task<Result<http::Response>> {
      Result<Json> review = Json::parse(request.body);
      guard_.asked.insert(std::string((*review)["request"]["name"].string_or("")));
      co_return http::Response{.status = 200,
                               .headers = {{"Content-Type", "application/json"}},
                               .body = fmt::format(R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",
                                   "response":{{"uid":"{}","allowed":true}}}})",
                                                   (*review)["request"]["uid"].string_or(""))};
    });
  }

  // Kills, stalls and shuts out a replica, again and again.
  Task<void> disturb(size_t index) {
    std::string source = fmt::format("gate-{}", index);
    for (uint64_t number = 0;; ++number) {
      Random random = world_.dice(source + " trouble", number);
      if (!co_await sleep_for(world_.loop, some_time(random, 15s))) co_return;
      Duration lasts = some_time(random, 20s);
      uint64_t what = random.below(3);
      if (!world_.history.fault(source, number)) continue;
      world_.history.note(source, [&] {
        return fmt::format("is {} for {} ms", what == 0 ? "killed" : what == 1 ? "stalled" : "shut out", lasts / 1ms);
      });
      Replica& replica = *replicas_[index];
      if (what == 0) {
        co_await replica.kill();
        elect();
      }
      if (what == 1) replica.stall(lasts);
      if (what == 2) replica.reach().shut_out = true;
      bool goes_on = (co_await sleep_for(world_.loop, lasts)).has_value();
      if (what == 0 && goes_on) start(index);
      if (what == 2) replica.reach().shut_out = false;
      if (!goes_on) co_return;
    }
  }

  // As a client of client-go does, over a network that works.
  Task<void> write(uint64_t number, bool is_disturbed, bool fails_closed) {
    Random random = world_.dice("writer", number);
    if (!co_await sleep_for(world_.loop, some_time(random, 90s))) co_return;
    std::string name = fmt::format("map-{}", number);
    kube::Client::Options options;
    options.busy_attempts = 11;
    options.busy_time = 1h;
    options.seed = number;
    kube::Client client(world_.loop, world_.sandbox.api_server(), nullptr, options);
    TimePoint begun = world_.loop.now();
    bool works = guard_.listens;
    auto reply = co_await client.apply(config_maps(), "default", name, config_map(name, {}));
    Duration took = world_.loop.now() - begun;
    world_.history.note(name, [&] { return reply ? "is stored" : reply.error().error().message(); });
    std::string why = reply ? "" : reply.error().error().message();
    if (works && !reply) world_.fail(fmt::format("{} failed though the webhook works: {}", name, why));
    if (works && took > kMostLate)
      world_.fail(fmt::format("{} was late by {} s though the webhook works", name, took / 1s));
    if (!is_disturbed && !reply) world_.fail(fmt::format("{} lost the race: {}", name, why));
    bool is_unseen = reply && !guard_.asked.contains(name);
    if (is_unseen && (fails_closed || works || !is_disturbed)) world_.fail(fmt::format("{} was stored unseen", name));
  }

  World& world_;
  bool believes_doubts_;
  kube::Client client_;
  Guard guard_;
  Duration comes_after_{};
  std::vector<std::unique_ptr<Replica>> replicas_;
  // Of those that were killed.
  std::vector<std::unique_ptr<Replica>> graves_;
  size_t turn_ = 0;
};

// What stands between the gate and the API servers is as bad as it may be; the API servers themselves are well.
Weather draw_gate_weather(Random& random) {
  Weather weather = draw_weather(random);
  weather.restarts = {};
  weather.forbidden = {};
  weather.cluster.stale_configuration = 0;
  if (random.chance(0.3)) {
    weather.rates = {};
    weather.rates.delay = {};
    weather.compactions = {};
  } else {
    weather.rates.delay = std::max<Duration>(weather.rates.delay, 1ms);
  }
  return weather;
}

}  // namespace

Scenario gate_scenario(bool believes_doubts) {
  return {.name = "gate", .weather = draw_gate_weather, .play = [believes_doubts](World& world) -> Task<void> {
            GatePlay play(world, believes_doubts);
            co_await play.run();
          }};
}

}  // namespace fairlead::sim

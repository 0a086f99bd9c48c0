#include "rollout/rollout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/base64.h"
#include "rollout_network.h"
#include "sandbox/core.h"
#include "scenarios.h"
#include "sim/webhook.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using rollout::Ending;

constexpr uint64_t kMostRuns = 40;
constexpr const char* kAdmission = "admissionregistration.k8s.io";

http::Response json_response(const Json& body) {
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = body.dump(), .connection = 0};
}

Json converted(const Json& review) {
  Json::Array objects;
  for (Json object : review["request"]["objects"].items()) {
    object.make("apiVersion") = review["request"]["desiredAPIVersion"];
    objects.push_back(std::move(object));
  }
  return Json::Object{{"apiVersion", review["apiVersion"]},
                      {"kind", "ConversionReview"},
                      {"response", Json::Object{{"uid", review["request"]["uid"]},
                                                {"convertedObjects", std::move(objects)},
                                                {"result", Json::Object{{"status", "Success"}}}}}};
}

// Allows everything, and tells the judge.
sandbox::LocalWebhooks::Handler handler_of(std::shared_ptr<Judge> judge, std::string service) {
  return [judge, service](http::Request request) -> Task<Result<http::Response>> {
    CO_TRY_ASSIGN(Json review, Json::parse(request.body));
    std::string_view path = std::string_view(request.target).substr(0, request.target.find('?'));
    if (path == "/convert") co_return json_response(converted(review));
    const Json& asked = review["request"];
    const std::vector<BundleHook>& hooks = judge->bundle().hooks;
    for (size_t i = 0; i < hooks.size(); ++i)
      if (hooks[i].service == service && hooks[i].path == path && !asked["dryRun"].bool_or(false))
        judge->asked(i,
                     {std::string(asked["resource"]["group"].string_or("")),
                      std::string(asked["resource"]["resource"].string_or(""))},
                     {std::string(asked["namespace"].string_or("")), std::string(asked["name"].string_or(""))});
    co_return json_response(Json::Object{{"apiVersion", "admission.k8s.io/v1"},
                                         {"kind", "AdmissionReview"},
                                         {"response", Json::Object{{"uid", asked["uid"]}, {"allowed", true}}}});
  };
}

// Past the network. False if the API does not take it for a long time.
Task<bool> put_in_place(World& world, std::string method, std::string target, std::string type, std::string body) {
  for (int attempt = 0; attempt < 60; ++attempt) {
    Result<http::Response> response =
        co_await http::send(world.sandbox.api_server(),
                            {.method = method, .target = target, .headers = {{"Content-Type", type}}, .body = body});
    if (response && response->status < 300) co_return true;
    if (response && response->status == 409) co_return false;
    if (!co_await sleep_for(world.loop, 200ms)) co_return false;
  }
  co_return false;
}

std::string path_of(const BundleObject& object) {
  std::string_view version = object.value["apiVersion"].string_or("");
  std::string path = fmt::format("/{}/{}", version.find('/') == std::string_view::npos ? "api" : "apis", version);
  if (!object.place.ns.empty()) path += "/namespaces/" + object.place.ns;
  return fmt::format("{}/{}/{}", path, object.resource.resource, object.place.name);
}

// Until its pods are ready. False if they are not for a long time.
Task<bool> wait_for_workloads(World& world, const Judge& judge) {
  for (int attempt = 0; attempt < 300; ++attempt) {
    if (judge.workloads_work()) co_return true;
    if (!co_await sleep_for(world.loop, 200ms)) co_return false;
  }
  co_return false;
}

// What somebody has put in already: the first part of the bundle, some of it as an earlier release had it.
Task<void> put_first_part(World& world, const Judge& judge) {
  Random random = world.dice("first part");
  if (!random.chance(0.4) || !world.history.step("first part", 0)) co_return;
  std::vector<const BundleObject*> order;
  for (const BundleObject& object : judge.bundle().objects) order.push_back(&object);
  std::ranges::sort(order, {}, [](const BundleObject* object) { return std::pair(object->stage, object); });
  order.resize(random.below(order.size() + 1));
  for (const BundleObject* object : order) {
    bool is_configuration = object->value.contains("webhooks");
    // Registered any earlier, it could keep its own pods from starting for good.
    if (is_configuration && !co_await wait_for_workloads(world, judge)) co_return;
    bool older = random.chance(0.5);
    Json value = older && is_configuration ? older_form(random, object->value) : object->value;
    world.history.note("first part", [&] { return path_of(*object); });
    if (!co_await put_in_place(world, "PATCH", path_of(*object) + "?fieldManager=fairlead&force=true",
                               "application/apply-patch+yaml", value.dump()))
      co_return;
  }
  Random pause = world.dice("first part", 1);
  if (pause.chance(0.5)) (void)co_await sleep_for(world.loop, some_time(pause, 10min));
}

// True if something was missing.
bool fill_in(Json& client_config, const std::string& ca_bundle) {
  if (!client_config["caBundle"].string_or("").empty()) return false;
  client_config.make("caBundle") = to_base64(ca_bundle);
  return true;
}

// Puts certificate authorities into what has none, sooner or later, as cert-manager does. A server that stays with the
// old form does so until the next change, and nobody has seen one stay for longer than this: so there is one every now
// and then.
constexpr Duration kLongestStale = 90s;

Task<void> inject(World& world, std::shared_ptr<Judge> judge) {
  std::map<const BundleObject*, sandbox::ObjectPtr> done;
  std::map<const BundleObject*, TimePoint> refresh_at;
  for (uint64_t round = 0;; ++round) {
    Random random = world.dice("injector", round);
    if (!co_await sleep_for(world.loop, 100ms + some_time(random, 4s))) co_return;
    for (const BundleObject& object : judge->bundle().objects) {
      bool is_configuration = object.value.contains("webhooks");
      if (!is_configuration && !object.value["spec"].contains("conversion")) continue;
      sandbox::ObjectPtr now = world.sandbox.core().store.find(object.resource, object.place);
      if (auto due = refresh_at.find(&object); now && due != refresh_at.end() && due->second <= world.loop.now()) {
        Json touched = *now;
        touched.make("metadata").make("annotations").make("example.com/refreshed") = std::to_string(round);
        (void)co_await put_in_place(world, "PUT", path_of(object), "application/json", touched.dump());
        due->second = world.loop.now() + kLongestStale;
        continue;
      }
      // Nothing to do costs nothing: this goes on for hours.
      if (!now || now == done[&object]) continue;
      done[&object] = now;
      Json value = *now;
      bool changed = false;
      for (const BundleOperator& one : judge->bundle().operators) {
        if (!one.injected) continue;
        std::string ns = one.service.substr(0, one.service.find('/'));
        auto fill = [&](Json& config) {
          if (config["service"]["namespace"].string_or("") == ns) changed = fill_in(config, one.ca_bundle) || changed;
        };
        if (is_configuration)
          for (Json& hook : *value.make("webhooks").if_array()) fill(hook.make("clientConfig"));
        else fill(value.make("spec").make("conversion").make("webhook").make("clientConfig"));
      }
      if (!changed) continue;
      world.history.note("injector", [&] { return "fills in the caBundle of " + object.place.name; });
      if (co_await put_in_place(world, "PUT", path_of(object), "application/json", value.dump()))
        refresh_at[&object] = world.loop.now() + kLongestStale;
      else done.erase(&object);
    }
  }
}

// Of other runs: one whose time is over, and one that is at work.
Task<void> put_foreign_shadows(World& world) {
  auto shadow = [](std::string_view name, std::string_view expires) {
    Json object(
        Json::Object{{"apiVersion", "admissionregistration.k8s.io/v1"}, {"kind", "ValidatingWebhookConfiguration"}});
    object.make("metadata") = Json::Object{{"name", name},
                                           {"labels", Json::Object{{"fairlead.dev/shadow", "another-run"}}},
                                           {"annotations", Json::Object{{"fairlead.dev/expires", expires}}}};
    return object.dump();
  };
  std::string path = fmt::format("/apis/{}/v1/validatingwebhookconfigurations", kAdmission);
  (void)co_await put_in_place(world, "POST", path, "application/json",
                              shadow("0-fairlead-shadow-another-run-1", "2999-01-01T00:00:00Z"));
  (void)co_await put_in_place(world, "POST", path, "application/json",
                              shadow("0-fairlead-shadow-earlier-run-1", "2001-01-01T00:00:00Z"));
}

class Rollouts {
 public:
  Rollouts(World& world, std::shared_ptr<Judge> judge, RolloutSabotage sabotage)
      : world_(world), judge_(std::move(judge)), sabotage_(std::move(sabotage)) {
    Random random = world.dice("rollout");
    if (random.chance(0.4)) options_.name = "bundle";
    if (random.chance(0.1)) options_.concurrency = 1 + random.below(4);
  }

  // One run of the engine; killed after that time.
  Task<Ending> run(std::optional<Duration> killed_after) {
    rollout::Options options = options_;
    options.run = fmt::format("run{}", ++runs_);
    options.holder = options.run;
    LoadBalancer balancer(world_, *judge_, options.run + " servers");
    FaultyTransport& network = world_.transport(options.run, balancer);
    std::unique_ptr<http::Transport> wrong = sabotage_ ? sabotage_(network) : nullptr;
    http::Transport& way_out = wrong ? *wrong : static_cast<http::Transport&>(network);
    Process process(way_out, *judge_, options.run);
    kube::Client::Options client_options;
    client_options.seed = world_.seed + static_cast<uint64_t>(runs_);
    kube::Client client(world_.loop, process, nullptr, client_options);
    kube::Discovery discovery(client);
    journal::Journal journal(world_.loop.clock());
    journal.read_by([this](const journal::Event& event) {
      world_.history.note("engine", [&] { return journal::to_json(event).dump(); });
    });
    CancelSource stop;
    Loop::TimerId timer{};
    if (killed_after)
      timer = world_.loop.call_after(*killed_after, [&] {
        world_.history.note("engine", [] { return "killed"; });
        process.kill();
        stop.cancel();
      });
    Ending ending =
        co_await rollout::roll_out(client, discovery, judge_->bundle().manifest(), std::move(options), journal, &stop);
    if (killed_after && !process.killed()) world_.loop.cancel_timer(timer);
    was_killed_ = process.killed();
    ever_killed_ = ever_killed_ || was_killed_;
    co_await network.stop();
    co_return ending;
  }

  bool ever_killed() const { return ever_killed_; }

  // Again and again until it is done. What was killed may end as it likes; so may what never began.
  Task<void> run_until_done() {
    Random random = world_.dice("kills");
    uint64_t kills = random.below(3) == 0 ? 1 + random.below(2) : 0;
    for (uint64_t i = 0; i < kMostRuns; ++i) {
      std::optional<Duration> killed_after;
      Random moment = world_.dice("kill", i);
      if (i < kills && world_.history.step("kill", i)) killed_after = some_time(moment, moment.chance(0.5) ? 1s : 12s);
      size_t faults_before = world_.history.faults();
      Ending ending = co_await run(killed_after);
      if (was_killed_) continue;
      if (ending.how == Ending::How::done) co_return;
      bool faulty = world_.history.faults() > faults_before;
      bool nothing_sent = ending.objects.empty();
      if (!faulty || !nothing_sent) {
        std::string why;
        for (const rollout::Cause& cause : ending.causes) why += "\n" + cause.error.report();
        co_return world_.fail(fmt::format("the rollout ended {}:{}", rollout::name_of(ending.how), why));
      }
      if (!co_await sleep_for(world_.loop, 1s)) co_return;
    }
    world_.fail("the rollout was never done");
  }

 private:
  World& world_;
  std::shared_ptr<Judge> judge_;
  RolloutSabotage sabotage_;
  rollout::Options options_;
  int runs_ = 0;
  bool was_killed_ = false;
  bool ever_killed_ = false;
};

void serve(World& world, const std::shared_ptr<Judge>& judge) {
  for (const BundleOperator& one : judge->bundle().operators) {
    Random random = world.dice(one.service);
    // One that lets pass what it does not answer stays up: nobody can do anything about what passes otherwise.
    WebhookWeather weather = one.fails_closed ? draw_webhook_weather(random) : WebhookWeather();
    serve_webhook(world, one.service, weather, handler_of(judge, one.service), one.ca_bundle);
  }
}

void check_foreign_shadow(World& world) {
  if (!world.sandbox.core().find(kAdmission, "validatingwebhookconfigurations", "", "0-fairlead-shadow-another-run-1"))
    world.fail("the shadow of another run that is at work was removed");
}

Task<void> play(World& world, RolloutSabotage sabotage) {
  auto keep = [&](uint64_t number) { return world.history.step("object", number); };
  std::shared_ptr<Judge> judge = Judge::make(world, draw_bundle(world.dice("bundle"), keep));
  serve(world, judge);
  Scope others(world.loop, nullptr);
  others.spawn(inject(world, judge));
  Random random = world.dice("play");
  bool foreign = random.chance(0.1);
  if (foreign) co_await put_foreign_shadows(world);
  co_await put_first_part(world, *judge);
  Loop::TimerId healing = world.loop.call_after(1s + some_time(random, 20s), [&] { world.heal(); });
  judge->begin();

  Rollouts rollouts(world, judge, std::move(sabotage));
  co_await rollouts.run_until_done();
  world.loop.cancel_timer(healing);
  world.heal();
  judge->check_stored();
  if (judge->has_shadows() && !world.failure()) {
    if (world.history.faults() == 0 && !rollouts.ever_killed())
      world.fail("shadows are left, and nothing had gone wrong");
    // Those of a run that was killed go once their time is over and somebody comes by.
    (void)co_await sleep_for(world.loop, 61min);
    Ending ending = co_await rollouts.run(std::nullopt);
    if (ending.how != Ending::How::done) world.fail("the rollout could not be done again");
    judge->check_stored();
    if (judge->has_shadows()) world.fail("shadows are left though their time is over");
  }
  if (foreign) check_foreign_shadow(world);
  others.cancel();
  co_await others.join();
}

Weather weather(Random& random) {
  Weather weather = draw_weather(random);
  // A rollout that is not allowed to do its work says so and ends: that is no fault to wait out.
  weather.forbidden = {};
  weather.cluster.controllers = true;
  weather.cluster.events = false;
  weather.cluster.stale_configuration = random.chance(0.3) ? 0.3 : 0;
  weather.cluster.api_server_skew = some_time(random, 300ms);
  return weather;
}

}  // namespace

Scenario rollout_scenario(RolloutSabotage sabotage) {
  return {.name = "rollout",
          .weather = weather,
          .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); },
          .patience = 4h};
}

}  // namespace fairlead::sim

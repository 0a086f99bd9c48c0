// A bundle with an operator, taken out by the engine while the network and others do their worst.
#include "removal/removal.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "ignores_selectors.h"
#include "inventory/inventory.h"
#include "sandbox/core/core.h"
#include "scenarios.h"
#include "workload.h"

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;
using removal::Ending;
using removal::ObjectEnding;

constexpr int kMostRuns = 8;
const inventory::BundleName kBundle{.name = "bundle", .home = "default"};
const sandbox::ResourceId kWidgets{"acme.dev", "widgets"};
const sandbox::ResourceId kConfigMaps{"", "configmaps"};
const sandbox::ResourceId kDeployments{"apps", "deployments"};

struct Placed {
  sandbox::ResourceId resource;
  std::string path;  // of the collection
  Json value;
  bool is_target = true;
  // It may go though it is no target: it is in something that is.
  bool may_go = true;
  // It is protected, or something in it is.
  bool stays = false;
  std::string uid;

  object::Key key() const {
    std::string_view kind = value["kind"].string_or("");
    return {.group = resource.group,
            .kind = std::string(kind),
            .ns = std::string(value["metadata"]["namespace"].string_or("")),
            .name = std::string(value["metadata"]["name"].string_or(""))};
  }
};

Json named(std::string_view api_version, std::string_view kind, std::string name, std::string_view ns = "") {
  Json value(Json::Object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", Json::Object{{"name", name}}}});
  if (!ns.empty()) value.make("metadata").make("namespace") = ns;
  return value;
}

Json definition() {
  Json value = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.acme.dev");
  Json schema(Json::Object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  value.make("spec") =
      Json::Object{{"group", "acme.dev"},
                   {"scope", "Namespaced"},
                   {"names", Json::Object{{"kind", "Widget"}, {"plural", "widgets"}, {"singular", "widget"}}},
                   {"versions", Json::Array{Json::Object{{"name", "v1"},
                                                         {"served", true},
                                                         {"storage", true},
                                                         {"schema", Json::Object{{"openAPIV3Schema", schema}}}}}}};
  return value;
}

Json operator_deployment() {
  Json labels(Json::Object{{"app", "operator"}});
  Json value = named("apps/v1", "Deployment", "operator", "team");
  value.make("spec") = Json::Object{
      {"replicas", 1},
      {"selector", Json::Object{{"matchLabels", labels}}},
      {"template",
       Json::Object{{"metadata", Json::Object{{"labels", labels}}},
                    {"spec", Json::Object{{"containers", Json::Array{Json::Object{{"name", "x"}, {"image", "x"}}}}}}}}};
  return value;
}

// Stands in the way of every update of a widget, for good.
Json dead_webhook() {
  Json value = named("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "dead");
  Json rule(Json::Object{{"apiGroups", Json::Array{"acme.dev"}},
                         {"apiVersions", Json::Array{"*"}},
                         {"operations", Json::Array{"UPDATE"}},
                         {"resources", Json::Array{"widgets"}}});
  value.make("webhooks") = Json::Array{Json::Object{
      {"name", "dead.acme.dev"},
      {"admissionReviewVersions", Json::Array{"v1"}},
      {"sideEffects", "None"},
      {"clientConfig", Json::Object{{"service", Json::Object{{"name", "none"}, {"namespace", "default"}}}}},
      {"rules", Json::Array{std::move(rule)}}}};
  return value;
}

class Removals {
 public:
  Removals(World& world, const RemovalSabotage& sabotage)
      : world_(world), sabotage_(sabotage), plan_(world.dice("plan")) {
    dead_ = plan_.chance(0.15);
    blocked_ = plan_.chance(0.15);
    pace_ = 100ms + some_time(plan_, 8s);
    bool definition_goes = plan_.chance(0.7);
    bool namespace_is_target = plan_.chance(0.6);
    protected_ = plan_.chance(0.15);
    Random bundling = world.dice("bundling");
    is_bundle_ = bundling.chance(0.4);
    ignores_selectors_ = is_bundle_ && bundling.chance(0.3);
    bool namespace_goes = namespace_is_target && !protected_;
    add({"", "namespaces"}, "/api/v1/namespaces", named("v1", "Namespace", "team"), namespace_is_target, false);
    placed_.back().stays = protected_;
    add({"apiextensions.k8s.io", "customresourcedefinitions"},
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition(), definition_goes, false);
    add(kDeployments, "/apis/apps/v1/namespaces/team/deployments", operator_deployment(), true, true);
    for (uint64_t i = 0; i < 8; ++i) {
      Random random = world.dice("widget", i);
      if (!random.chance(0.6) || !world.history.step("widget", i)) continue;
      bool is_target = random.chance(0.7);
      std::string_view ns = random.chance(0.5) ? "team" : "default";
      Json value = named("acme.dev/v1", "Widget", fmt::format("w{}", i), ns);
      if (random.chance(0.8)) value.make("metadata").make("finalizers") = Json::Array{"acme.dev/cleanup"};
      add(kWidgets, fmt::format("/apis/acme.dev/v1/namespaces/{}/widgets", ns), std::move(value), is_target,
          definition_goes || (namespace_goes && ns == "team"));
    }
    for (uint64_t i = 0; i < 12; ++i) {
      Random random = world.dice("settings", i);
      if (!random.chance(0.6) || !world.history.step("settings", i)) continue;
      std::string_view ns = random.chance(0.5) ? "team" : "default";
      Json value = named("v1", "ConfigMap", fmt::format("c{}", i), ns);
      bool is_target = random.chance(0.6);
      if (random.chance(0.2)) value.make("metadata").make("finalizers") = Json::Array{"acme.dev/cleanup"};
      add(kConfigMaps, fmt::format("/api/v1/namespaces/{}/configmaps", ns), std::move(value), is_target,
          namespace_goes && ns == "team");
    }
    if (protected_) {
      Json value = named("v1", "ConfigMap", "precious", "team");
      value.make("metadata").make("annotations").make("fairlead.dev/delete") = "protected";
      add(kConfigMaps, "/api/v1/namespaces/team/configmaps", std::move(value), plan_.chance(0.5), false);
      placed_.back().stays = true;
    }
    if (is_bundle_) keep_others();
  }

  // A bundle takes nothing of others along, neither with its namespace nor with its definition.
  void keep_others() {
    bool in_team = false, widgets = false;
    for (Placed& one : placed_) {
      if (one.is_target) continue;
      one.may_go = false;
      in_team = in_team || one.key().ns == "team";
      widgets = widgets || one.key().kind == "Widget";
      // People and controllers copy labels.
      if (world_.dice("copied " + one.key().text()).chance(0.3)) label(one.value);
    }
    for (Placed& one : placed_) {
      if (!one.is_target) continue;
      label(one.value);
      if (one.key().kind == "Namespace") one.stays = one.stays || in_team;
      if (one.key().kind == "CustomResourceDefinition") one.stays = one.stays || widgets;
    }
    for (Placed& one : placed_)
      if (one.key().ns == "team" && placed_.front().stays) one.may_go = false;
  }

  bool operator_works() const { return !dead_ && !blocked_; }
  bool can_all_go() const { return operator_works() && !protected_; }

  Task<bool> set_up() {
    for (Placed& one : placed_) {
      sandbox::Place place = place_of(one);
      for (int attempt = 0; attempt < 100 && !world_.sandbox.core().store.find(one.resource, place); ++attempt) {
        (void)co_await http::send(world_.sandbox.api_server(), creation_of(one));
        if (!co_await sleep_for(world_.loop, 100ms)) co_return false;
      }
      sandbox::ObjectPtr there = world_.sandbox.core().store.find(one.resource, place);
      if (!there) co_return false;
      one.uid = (*there)["metadata"]["uid"].string_or("");
    }
    if (blocked_)
      for (int attempt = 0; attempt < 50; ++attempt) {
        auto made =
            co_await http::send(world_.sandbox.api_server(),
                                {.method = "POST",
                                 .target = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                                 .headers = {{"Content-Type", "application/json"}},
                                 .body = dead_webhook().dump()});
        if (made && (made->status == 201 || made->status == 409)) break;
        if (!co_await sleep_for(world_.loop, 100ms)) co_return false;
      }
    if (blocked_) (void)co_await sleep_for(world_.loop, 30s);
    if (is_bundle_ && !co_await put_record()) co_return false;
    begun_ = true;
    co_return true;
  }

  // The record of the bundle, as a rollout leaves it.
  Task<bool> put_record() {
    kube::Client client(world_.loop, world_.sandbox.api_server(), nullptr, {});
    kube::Discovery discovery(client);
    std::vector<inventory::Wanted> wanted;
    for (const Placed& one : placed_)
      if (one.is_target) wanted.push_back({.key = one.key(), .version = "v1"});
    for (int attempt = 0; attempt < 50; ++attempt) {
      auto opened = co_await inventory::Inventory::open(client, discovery, {.name = kBundle.name, .ns = kBundle.home});
      if (opened && co_await (*opened)->claim(wanted) && co_await (*opened)->release()) co_return true;
      if (!co_await sleep_for(world_.loop, 1s)) co_return false;
    }
    co_return false;
  }

  // Takes a finalizer off one object at a time, while its Deployment is there.
  Task<void> operate() {
    while (co_await sleep_for(world_.loop, pace_)) {
      if (dead_ || !world_.sandbox.core().store.find(kDeployments, {"team", "operator"})) continue;
      std::vector<sandbox::ObjectPtr> leaving;
      for (const sandbox::ResourceId& kind : {kWidgets, kConfigMaps})
        for (const auto& [place, object] : world_.sandbox.core().store.all(kind))
          if ((*object)["metadata"].contains("deletionTimestamp")) leaving.push_back(object);
      for (const sandbox::ObjectPtr& object : leaving) {
        const Json& metadata = (*object)["metadata"];
        bool is_widget = (*object)["kind"].string_or("") == "Widget";
        auto done = co_await http::send(
            world_.sandbox.api_server(),
            {.method = "PATCH",
             .target = fmt::format("/{}/v1/namespaces/{}/{}/{}", is_widget ? "apis/acme.dev" : "api",
                                   metadata["namespace"].string_or(""), is_widget ? "widgets" : "configmaps",
                                   metadata["name"].string_or("")),
             .headers = {{"Content-Type", "application/merge-patch+json"}},
             .body = R"({"metadata":{"finalizers":null}})"});
        if (done && done->status < 300) break;
      }
    }
  }

  // Makes ConfigMaps anew as soon as they are gone, as another tool would.
  Task<void> recreate() {
    std::set<std::string> made;
    while (co_await sleep_for(world_.loop, 50ms)) {
      for (const Placed& one : placed_) {
        if (one.resource.resource != "configmaps" || !one.is_target || one.may_go || made.contains(one.uid)) continue;
        Random random = world_.dice("recreated " + one.key().name);
        if (!random.chance(0.3) || world_.sandbox.core().store.find(one.resource, place_of(one))) continue;
        auto done = co_await http::send(world_.sandbox.api_server(), {.method = "POST",
                                                                      .target = one.path,
                                                                      .headers = {{"Content-Type", "application/json"}},
                                                                      .body = one.value.dump()});
        if (!done || done->status != 201) continue;
        made.insert(one.uid);
        if (Result<Json> object = Json::parse(done->body))
          anew_.push_back({one.resource, place_of(one), std::string((*object)["metadata"]["uid"].string_or(""))});
      }
    }
  }

  Task<Ending> run() {
    FaultyTransport& network = world_.transport(fmt::format("run{}", ++runs_));
    kube::Client::Options client_options;
    client_options.seed = world_.seed + static_cast<uint64_t>(runs_);
    IgnoresSelectors ignorant(network, ignores_selectors_);
    std::unique_ptr<http::Transport> wrong = sabotage_ ? sabotage_(ignorant) : nullptr;
    kube::Client client(world_.loop, wrong ? *wrong : ignorant, nullptr, client_options);
    kube::Discovery discovery(client);
    journal::Journal journal(world_.loop.clock());
    journal.read_by([this](const journal::Event& event) { read(event); });
    removal::Options options;
    options.timeout = 5min;
    CancelSource stop;
    Random random = world_.dice("interruption", static_cast<uint64_t>(runs_));
    bool interrupted = runs_ < 3 && random.chance(0.3) && world_.history.step("interruption", uint64_t(runs_));
    Loop::TimerId timer{};
    bool fired = false;
    if (interrupted)
      timer = world_.loop.call_after(some_time(random, 15s), [&] {
        fired = true;
        stop.cancel();
      });
    std::vector<removal::Target> targets;
    for (const Placed& one : placed_)
      if (one.is_target) targets.push_back({.key = one.key(), .version = "v1", .source = {}, .uid = one.uid});
    auto known = co_await discovery.all();
    Ending ending;
    if (is_bundle_)
      ending = co_await removal::take_out_bundle(client, discovery, kBundle.name, std::move(options), journal, &stop);
    else if (known)
      ending = co_await removal::take_out(client, discovery, std::move(targets), std::move(options), journal, &stop);
    else ending.how = Ending::How::failed;
    if (interrupted && !fired) world_.loop.cancel_timer(timer);
    co_await network.stop();
    check(ending);
    co_return ending;
  }

  Task<void> run_until_done() {
    for (int i = 0; i < kMostRuns && !world_.failure(); ++i) {
      Ending ending = co_await run();
      if (ending.how == Ending::How::done && !keeps_too_much(ending)) break;
      // What cannot reach the cluster ends at once, and is tried for as long as it takes.
      if (is_bundle_ && !healed_for(0s) && ending.objects.empty()) --i;
      if (!co_await sleep_for(world_.loop, 1s)) co_return;
      if (i == kMostRuns - 1 && can_all_go()) {
        std::string why;
        for (const removal::Cause& cause : ending.causes) why += "\n" + cause.error.report();
        world_.fail(fmt::format("the removal ended {}:{}", name_of(ending.how), why));
      }
      // What is stuck stays so.
      if (!can_all_go() && i >= 1 && healed_for(0s)) break;
    }
    for (const Placed& one : placed_)
      if (one.is_target && !one.stays && can_all_go() && is_there(one))
        world_.fail(one.key().text() + " is still there");
    for (const Placed& one : placed_)
      if ((one.stays || (!one.is_target && !one.may_go)) && !is_there(one))
        world_.fail(one.key().text() + " was not to go, and is gone");
    for (const Placed& one : placed_)
      if (is_bundle_ && !one.is_target && is_there(one) && was_changed(one))
        world_.fail(one.key().text() + " is not ours, and was changed");
    for (const auto& [resource, place, uid] : anew_) {
      sandbox::ObjectPtr there = world_.sandbox.core().store.find(resource, place);
      if (!there || (*there)["metadata"]["uid"].string_or("") != uid)
        world_.fail(place.name + " was made anew, and is gone");
    }
  }

  void healed() { healed_at_ = world_.loop.now(); }

  // What happens in the store.
  void see(const sandbox::ResourceId& resource, const sandbox::Event& event) {
    if (!begun_) return;
    bool gone = event.type == sandbox::Event::Type::deleted;
    const Json& metadata = (*event.object)["metadata"];
    std::string uid(metadata["uid"].string_or(""));
    bool begins = event.previous && metadata.contains("deletionTimestamp") &&
                  !(*event.previous)["metadata"].contains("deletionTimestamp");
    if (gone || begins) moved_[uid] = world_.loop.now();
    if (resource == kWidgets && (gone || begins)) moved_["widgets"] = world_.loop.now();
    // What removes finalizers outlives what carries them.
    if (gone && resource == kDeployments && operator_works())
      for (const Placed& one : placed_) {
        bool has_work = one.resource == kWidgets || one.value["metadata"].contains("finalizers");
        if (has_work && one.is_target && !one.stays && is_there(one))
          world_.fail("the operator went before " + one.key().text());
      }
  }

 private:
  struct Anew {
    sandbox::ResourceId resource;
    sandbox::Place place;
    std::string uid;
  };

  void add(sandbox::ResourceId resource, std::string path, Json value, bool is_target, bool may_go) {
    placed_.push_back({std::move(resource), std::move(path), std::move(value), is_target, may_go, false, {}});
  }
  static void label(Json& value) {
    value.make("metadata").make("labels").make(inventory::kPartOfLabel) = kBundle.label_value();
  }
  // What the bundle has is applied by it; what others have is created by them.
  http::Request creation_of(const Placed& one) const {
    if (!is_bundle_ || !one.is_target)
      return {.method = "POST",
              .target = one.path,
              .headers = {{"Content-Type", "application/json"}},
              .body = one.value.dump()};
    return {.method = "PATCH",
            .target = fmt::format("{}/{}?fieldManager={}", one.path, one.key().name, "fairlead%2Fdefault%2Fbundle"),
            .headers = {{"Content-Type", "application/apply-patch+yaml"}},
            .body = one.value.dump()};
  }
  bool was_changed(const Placed& one) const {
    const Json& now = *world_.sandbox.core().store.find(one.resource, place_of(one));
    return now["metadata"].contains("deletionTimestamp") || inventory::part_of(now) != inventory::part_of(one.value);
  }
  // Where the contents of a namespace cannot be listed, it is kept for now.
  bool keeps_too_much(const Ending& ending) const {
    return std::ranges::any_of(ending.objects, [this](const ObjectEnding& object) {
      const Placed* one = find(object.key);
      return object.state == ObjectEnding::State::kept && one && !one->stays;
    });
  }
  static sandbox::Place place_of(const Placed& one) { return {one.key().ns, one.key().name}; }

  bool is_there(const Placed& one) const {
    sandbox::ObjectPtr there = world_.sandbox.core().store.find(one.resource, place_of(one));
    return there && (*there)["metadata"]["uid"].string_or("") == one.uid;
  }
  bool healed_for(Duration time) const { return healed_at_ && world_.loop.now() >= *healed_at_ + time; }

  const Placed* find(const object::Key& key) const {
    auto found = std::ranges::find_if(placed_, [&](const Placed& one) { return one.key() == key; });
    return found == placed_.end() ? nullptr : &*found;
  }

  void read(const journal::Event& event) {
    world_.history.note("engine", [&] { return journal::to_json(event).dump(); });
    const Placed* one = find(event.key);
    if (!one) return;
    if (event.kind == journal::EventKind::removed && is_there(*one))
      world_.fail(one->key().text() + " was said to be gone, and is there");
    if (event.state != "stuck" || !healed_for(30s + world_.weather.rates.delay)) return;
    // Namespaces tell what is left in them only now and then.
    if (one->key().kind == "Namespace") return;
    auto moved = moved_.find(one->key().kind == "CustomResourceDefinition" ? "widgets" : one->uid);
    if (moved == moved_.end()) return;
    Duration since = world_.loop.now() - moved->second;
    if (since > 1s && since < 9s)
      world_.fail(fmt::format("{} was called stuck {} ms after it had moved", one->key().text(), since / 1ms));
  }

  void check(const Ending& ending) {
    for (const ObjectEnding& object : ending.objects) {
      const Placed* one = find(object.key);
      bool is_away = object.state == ObjectEnding::State::gone || object.state == ObjectEnding::State::absent;
      if (one && is_away && is_there(*one)) world_.fail(one->key().text() + " ended as gone, and is there");
    }
  }

  World& world_;
  RemovalSabotage sabotage_;
  Random plan_;
  bool dead_ = false;
  bool blocked_ = false;
  bool protected_ = false;
  // What goes is a bundle with a name, among things of others.
  bool is_bundle_ = false;
  bool ignores_selectors_ = false;
  Duration pace_{};
  std::vector<Placed> placed_;
  std::vector<Anew> anew_;
  // By UID: when it last came closer to its end.
  std::map<std::string, TimePoint> moved_;
  std::optional<TimePoint> healed_at_;
  bool begun_ = false;
  int runs_ = 0;
};

Task<void> play(World& world, RemovalSabotage sabotage) {
  auto removals = std::make_shared<Removals>(world, sabotage);
  // Shared with the store, which goes on to tell when the play is over.
  world.sandbox.core().store.listen(
      [removals](const sandbox::ResourceId& resource, const sandbox::Event& event) { removals->see(resource, event); });
  if (!co_await removals->set_up()) {
    world.heal();
    co_return;
  }
  Scope others(world.loop, nullptr);
  others.spawn(removals->operate());
  others.spawn(removals->recreate());
  Random random = world.dice("play");
  Loop::TimerId healing = world.loop.call_after(1s + some_time(random, random.chance(0.3) ? 4min : 20s), [&] {
    world.heal();
    removals->healed();
  });
  co_await removals->run_until_done();
  world.loop.cancel_timer(healing);
  world.heal();
  others.cancel();
  co_await others.join();
}

Weather weather(Random& random) {
  Weather weather = draw_weather(random);
  // Who is not allowed to remove something is told so, and ends: that is no fault to wait out.
  weather.forbidden = {};
  weather.cluster.controllers = true;
  weather.cluster.events = false;
  weather.cluster.lost_crd_cleanup = random.chance(0.3) ? 0.5 : 0;
  return weather;
}

}  // namespace

Scenario removal_scenario(RemovalSabotage sabotage) {
  return {.name = "removal",
          .weather = weather,
          .play = [sabotage = std::move(sabotage)](World& world) { return play(world, sabotage); },
          .time_limit = 4h};
}

}  // namespace fairlead::sim

#include "workload.h"

#include <fmt/format.h>

namespace fairlead::sim {
namespace {

using namespace std::chrono_literals;

constexpr uint64_t kSteps = 8;
constexpr uint64_t kNames = 4;

}  // namespace

object::Resource config_maps() {
  return {.group = "",
          .version = "v1",
          .kind = "ConfigMap",
          .plural = "configmaps",
          .singular = "configmap",
          .namespaced = true,
          .short_names = {},
          .verbs = {},
          .categories = {}};
}

Json config_map(std::string_view name, Json::Object data) {
  return Json::Object{{"apiVersion", "v1"},
                      {"kind", "ConfigMap"},
                      {"metadata", Json::Object{{"name", name}, {"namespace", "default"}}},
                      {"data", std::move(data)}};
}

kube::Client::Options client_options(World& world, std::string_view name) {
  Random random = world.dice(name);
  kube::Client::Options options;
  options.seed = 1 + random.below(1000);
  options.request_timeout = random.chance(0.5) ? 120s : 500ms;
  options.busy_attempts = 3;
  options.broken_attempts = 2;
  return options;
}

Task<void> change_objects(World& world, std::string name) {
  kube::Client client(world.loop, world.transport(name), nullptr, client_options(world, name));
  object::Resource resource = config_maps();
  std::string steps = name + " step";
  for (uint64_t number = 0; number < kSteps; ++number) {
    Random random = world.dice(steps, number);
    (void)co_await sleep_for(world.loop, some_time(random, 1500ms));
    if (!world.history.step(steps, number)) continue;
    std::string target = fmt::format("map-{}", random.below(kNames));
    Json object = config_map(target, {{"by", fmt::format("{} {}", name, number)}});
    if (random.chance(0.5)) object.make("metadata").make("labels").make("team") = "a";
    switch (random.below(6)) {
      case 0:
      case 1: (void)co_await client.create(resource, "default", object); break;
      case 2: (void)co_await client.apply(resource, "default", target, object, {{}, true}); break;
      case 3: {
        Json label = random.chance(0.5) ? Json("a") : Json();
        Json patch(Json::Object{{"metadata", Json::Object{{"labels", Json::Object{{"team", label}}}}},
                                {"data", Json::Object{{name, std::to_string(number)}}}});
        (void)co_await client.patch(resource, "default", target, kube::PatchType::merge, patch);
        break;
      }
      case 4: (void)co_await client.replace(resource, "default", target, object); break;
      default: (void)co_await client.remove(resource, "default", target);
    }
  }
}

Task<void> change_objects(World& world, size_t writers) {
  Scope scope(world.loop, co_await current_cancel());
  for (size_t i = 1; i <= writers; ++i) scope.spawn(change_objects(world, fmt::format("writer-{}", i)));
  co_await scope.join();
}

}  // namespace fairlead::sim

#include "rollout_older.h"

#include <fmt/format.h>

#include <algorithm>

#include "rollout_manifests.h"

namespace fairlead::sim {
namespace {

using Object = Json::Object;
using Array = Json::Array;

class Aging {
 public:
  Aging(Random random, const RandomBundle& bundle) : random_(random), bundle_(bundle) {}

  OlderBundle run() {
    for (const BundleObject& object : bundle_.objects) {
      if (object.leaf) add_leaf(object);
      else if (object.value.contains("webhooks") && random_.chance(0.5)) add_older_form(object);
      else if (can_be_older(object) && random_.chance(0.5)) add_older_workload(object);
      else older_.objects.push_back(object);
    }
    for (uint64_t i = random_.below(4); i > 0; --i)
      leave(config_map(any_team(), fmt::format("old-{}", i), "old"), "configmaps");
    if (random_.chance(0.3)) add_workload();
    if (random_.chance(0.3)) add_namespace();
    if (random_.chance(0.3)) add_definition();
    for (size_t i = older_.objects.size(); i > 1; --i)
      std::swap(older_.objects[i - 1], older_.objects[random_.below(i)]);
    return std::move(older_);
  }

 private:
  void leave(Json value, std::string_view plural) { leave(bundle_object(std::move(value), plural)); }
  void leave(BundleObject object) {
    older_.objects.push_back(object);
    older_.leftovers.push_back(std::move(object));
  }

  std::string any_team() {
    std::vector<std::string> teams;
    for (const BundleObject& object : bundle_.objects)
      if (object.place.name.starts_with("team-")) teams.push_back(object.place.name);
    std::ranges::sort(teams);
    return teams[random_.below(teams.size())];
  }

  // As it is, not there yet, renamed since, or moved since.
  void add_leaf(const BundleObject& object) {
    uint64_t how = random_.below(6);
    if (how < 3) older_.objects.push_back(object);
    if (how == 0) older_.objects.back().value = with_leftovers(object.value);
    if (how <= 3) return;
    BundleObject before = object;
    std::string ns = any_team();
    if (how == 5 && ns != object.place.ns) before.place.ns = ns;
    else before.place.name += "-before";
    before.value.make("metadata").make("name") = before.place.name;
    before.value.make("metadata").make("namespace") = before.place.ns;
    leave(std::move(before));
  }

  void add_older_form(BundleObject object) {
    object.value = older_form(random_, object.value);
    older_.objects.push_back(std::move(object));
  }

  void add_older_workload(BundleObject object) {
    object.value = older_workload(std::move(object.value));
    older_.objects.push_back(std::move(object));
  }

  void add_workload() {
    std::string ns = any_team();
    leave(deployment(ns, "old", 1, pod_template(Object{{"app", "old"}}, {}, {})), "deployments");
    leave(service(ns, "old", "old"), "services");
  }

  void add_namespace() {
    leave(blank("v1", "Namespace", "", "team-old"), "namespaces");
    leave(config_map("team-old", "old", "old"), "configmaps");
    leave(secret("team-old", "old"), "secrets");
  }

  // With what it defines, and perhaps with an operator that guards that.
  void add_definition() {
    leave(definition("Relic", "relics", {}), "customresourcedefinitions");
    for (uint64_t i = random_.below(3); i > 0; --i) {
      Json relic = blank("example.com/v1", "Relic", any_team(), fmt::format("old-{}", i));
      relic.make("spec") = Object{{"size", i}};
      leave(std::move(relic), "relics");
    }
    if (random_.chance(0.5)) return;
    older_.service = "op-old/hooks";
    leave(blank("v1", "Namespace", "", "op-old"), "namespaces");
    leave(deployment("op-old", "op-old", 1, pod_template(Object{{"app", "op-old"}}, {}, {})), "deployments");
    leave(service("op-old", "hooks", "op-old"), "services");
    Object client_config{{"service", Object{{"namespace", "op-old"}, {"name", "hooks"}, {"path", "/old"}}}};
    leave(configuration("op-old", false,
                        Array{hook({.name = "old.example.com",
                                    .client_config = std::move(client_config),
                                    .group = "example.com",
                                    .resource = "relics",
                                    .on_update = true,
                                    .on_delete = random_.chance(0.5)})}),
          "validatingwebhookconfigurations");
  }

  Random random_;
  const RandomBundle& bundle_;
  OlderBundle older_;
};

}  // namespace

OlderBundle draw_older(Random random, const RandomBundle& bundle) { return Aging(random, bundle).run(); }

bool can_be_older(const BundleObject& object) {
  return object.resource == sandbox::ResourceId{"apps", "deployments"} && !object.place.ns.starts_with("op-");
}

Json older_workload(Json deployment) {
  Json& pods = deployment.make("spec").make("template").make("spec");
  pods.make("containers").if_array()->front().make("image") = "older:1";
  return deployment;
}

Json older_form(Random& random, const Json& configuration) {
  Json older = configuration;
  Array& hooks = *older.make("webhooks").if_array();
  if (hooks.size() > 1 && random.chance(0.5)) hooks.pop_back();
  for (Json& hook : hooks) {
    if (random.chance(0.5)) continue;
    hook.make("rules") = Array{Object{{"apiGroups", Array{"old.example.com"}},
                                      {"apiVersions", Array{"*"}},
                                      {"operations", Array{"CREATE"}},
                                      {"resources", Array{"*"}}}};
  }
  return older;
}

}  // namespace fairlead::sim

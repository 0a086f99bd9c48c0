#include "rollout_bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"
#include "rollout_manifests.h"
#include "rollout_reach.h"

namespace fairlead::sim {
namespace {

using Object = Json::Object;
using Array = Json::Array;

// What somebody would make first.
enum Stage { kNamespaces, kDefinitions, kParts, kWorkloads, kServices, kConfigurations, kThings };

// A kind that the bundle brings along.
struct Brought {
  std::string api;  // "example.com", and its newest version there
  std::string kind;
  std::string plural;
  bool converts = false;
  size_t object = 0;  // its CRD, or its APIService
};

class Drawing {
 public:
  Drawing(Random random, const std::function<bool(uint64_t)>& keep) : random_(random), keep_(keep) {}

  RandomBundle run() {
    uint64_t size = 5 + random_.below(16);
    if (random_.chance(0.02)) size = 20 + random_.below(40);
    if (random_.chance(0.004)) size = 60 + random_.below(141);
    teams_ = 1 + random_.below(3);
    for (uint64_t team = 0; team < teams_; ++team) add_team(team);
    if (random_.chance(0.3)) bundle_.home = any_team();
    uint64_t operators = random_.below(4);
    for (uint64_t i = 0; i < operators && bundle_.hooks.size() < 6; ++i) add_operator(i);
    if (random_.chance(0.15)) add_extension();
    if (random_.chance(0.2)) add_policy();
    if (random_.chance(0.4)) workloads_.push_back(add_deployment(any_team(), "app", 1 + random_.below(2), true));
    if (random_.chance(0.3)) add_job();
    while (bundle_.objects.size() < size) add_thing();
    if (random_.chance(0.3)) add_waves();
    find_guards();
    leave_out();
    return std::move(bundle_);
  }

 private:
  size_t add(Json value, std::string_view plural, Stage stage) {
    bundle_.objects.push_back(bundle_object(std::move(value), plural));
    bundle_.objects.back().stage = stage;
    return bundle_.objects.size() - 1;
  }

  void add_team(uint64_t team) {
    std::string name = fmt::format("team-{}", team);
    Json ns = blank("v1", "Namespace", "", name);
    if (random_.chance(0.6)) {
      ns.make("metadata").make("labels") = Object{{"guarded", "yes"}};
      guarded_.push_back(std::move(name));
    }
    add(std::move(ns), "namespaces", kNamespaces);
  }
  std::string any_team() { return fmt::format("team-{}", random_.below(teams_)); }

  std::string some_delay(uint64_t limit_ms) { return fmt::format("{}ms", random_.below(limit_ms)); }
  Object pod_habits() {
    Object annotations;
    if (random_.chance(0.6)) annotations["sandbox.fairlead.dev/listens-after"] = some_delay(6000);
    if (random_.chance(0.3)) annotations["sandbox.fairlead.dev/ready-after"] = some_delay(5000);
    if (random_.chance(0.2)) annotations["sandbox.fairlead.dev/started-after"] = some_delay(5000);
    return annotations;
  }
  Object pod_labels(std::string_view app, bool may_have_tier) {
    Object labels{{"app", app}};
    if (may_have_tier && random_.chance(0.5)) labels["tier"] = "a";
    return labels;
  }

  // With what its pods need, each of them now and then.
  size_t add_deployment(const std::string& ns, const std::string& name, uint64_t replicas, bool may_have_tier) {
    Object spec;
    std::vector<size_t> needs;
    if (random_.chance(0.5)) {
      needs.push_back(add(blank("v1", "ServiceAccount", ns, name), "serviceaccounts", kParts));
      spec["serviceAccountName"] = name;
    }
    Array volumes;
    if (random_.chance(0.4)) {
      needs.push_back(add(config_map(ns, name, "debug"), "configmaps", kParts));
      volumes.push_back(Object{{"name", "config"}, {"configMap", Object{{"name", name}}}});
    }
    if (random_.chance(0.3)) {
      needs.push_back(add(secret(ns, name), "secrets", kParts));
      volumes.push_back(Object{{"name", "secret"}, {"secret", Object{{"secretName", name}}}});
    }
    if (!volumes.empty()) spec["volumes"] = std::move(volumes);
    Json pods = pod_template(pod_labels(name, may_have_tier), pod_habits(), std::move(spec));
    size_t index = add(deployment(ns, name, replicas, std::move(pods)), "deployments", kWorkloads);
    bundle_.objects[index].needs_stored = std::move(needs);
    return index;
  }

  void add_operator(uint64_t number) {
    std::string ns = fmt::format("op-{}", number);
    add(blank("v1", "Namespace", "", ns), "namespaces", kNamespaces);
    bool injected = random_.chance(0.25);
    bundle_.operators.push_back(
        {.service = ns + "/hooks",
         .ca_bundle = fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", to_base64(ns)),
         .injected = injected});
    workloads_.push_back(add_deployment(ns, ns, random_.chance(0.2) ? 2 : 1, false));
    add(service(ns, "hooks", ns), "services", kServices);
    std::string own = random_.chance(0.7) ? add_definition(number) : "";
    uint64_t configurations = 1 + random_.below(2);
    for (uint64_t i = 0; i < configurations; ++i) add_configuration(number, i, own);
  }

  Object client_config(uint64_t number, std::string_view path) {
    const BundleOperator& of = bundle_.operators[number];
    Object config{{"service", Object{{"namespace", fmt::format("op-{}", number)}, {"name", "hooks"}, {"path", path}}}};
    if (!of.injected) config["caBundle"] = to_base64(of.ca_bundle);
    return config;
  }

  // The plural of its kind.
  std::string add_definition(uint64_t number) {
    Brought brought{.api = "example.com",
                    .kind = fmt::format("Widget{}", number),
                    .plural = fmt::format("widget{}s", number),
                    .converts = random_.chance(0.3)};
    Json conversion;
    if (brought.converts)
      conversion = Object{{"strategy", "Webhook"},
                          {"webhook", Object{{"conversionReviewVersions", Array{"v1"}},
                                             {"clientConfig", client_config(number, "/convert")}}}};
    brought.object =
        add(definition(brought.kind, brought.plural, std::move(conversion)), "customresourcedefinitions", kDefinitions);
    return brought_.emplace_back(std::move(brought)).plural;
  }

  // An API server of the bundle's own.
  void add_extension() {
    bundle_.has_extension = true;
    add(blank("v1", "Namespace", "", "op-3"), "namespaces", kNamespaces);
    workloads_.push_back(add_deployment("op-3", "op-3", 1, false));
    add(service("op-3", "api", "op-3"), "services", kServices);
    size_t index = add(api_service(), "apiservices", kServices);
    brought_.push_back({.api = std::string(kExtensionGroup), .kind = "Gauge", .plural = "gauges", .object = index});
  }

  void add_configuration(uint64_t number, uint64_t which, const std::string& own) {
    bool mutating = random_.chance(0.4);
    std::string name = fmt::format("op-{}-{}", number, which);
    Array hooks;
    uint64_t count = 1 + random_.below(2);
    for (uint64_t i = 0; i < count && bundle_.hooks.size() < 6; ++i) {
      BundleHook drawn{.name = fmt::format("h{}.{}.example.com", i, name),
                       .configuration = name,
                       .service = bundle_.operators[number].service,
                       .path = fmt::format("/h{}-{}", which, i),
                       .mutating = mutating,
                       .ignore = random_.chance(0.4)};
      Reach reach = draw_reach(random_, number, own);
      drawn.on_update = random_.chance(0.7);
      Object value = hook({.name = drawn.name,
                           .client_config = client_config(number, drawn.path),
                           .group = reach.group,
                           .resource = reach.plural,
                           .on_update = drawn.on_update,
                           .ignore = drawn.ignore,
                           .timeout_seconds = 1 + random_.below(10)});
      reach.restrict(value);
      hooks.push_back(std::move(value));
      if (drawn.ignore) bundle_.operators[number].fails_closed = false;
      bundle_.hooks.push_back(std::move(drawn));
      reaches_.push_back(std::move(reach));
    }
    if (hooks.empty()) return;
    add(configuration(name, mutating, std::move(hooks)),
        mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations", kConfigurations);
  }

  void add_policy() {
    std::string version = fmt::format("{}/v1", kAdmissionGroup);
    Json policy = blank(version, "ValidatingAdmissionPolicy", "", "sizes");
    policy.make("spec") =
        Object{{"failurePolicy", "Fail"},
               {"matchConstraints", Object{{"resourceRules", Array{Object{{"apiGroups", Array{""}},
                                                                          {"apiVersions", Array{"v1"}},
                                                                          {"operations", Array{"CREATE", "UPDATE"}},
                                                                          {"resources", Array{"configmaps"}}}}}}},
               {"validations", Array{Object{{"expression", "object.metadata.name != 'forbidden'"}}}}};
    size_t on = add(std::move(policy), "validatingadmissionpolicies", kConfigurations);
    Json binding = blank(version, "ValidatingAdmissionPolicyBinding", "", "sizes");
    binding.make("spec") = Object{{"policyName", "sizes"}, {"validationActions", Array{"Deny"}}};
    size_t index = add(std::move(binding), "validatingadmissionpolicybindings", kConfigurations);
    bundle_.objects[index].needs_stored = {on};
  }

  void add_job() {
    Json pods = pod_template(pod_labels("migrate", true), Object{{"sandbox.fairlead.dev/runs-for", some_delay(4000)}},
                             Object{{"restartPolicy", "Never"}});
    workloads_.push_back(add(job(any_team(), "migrate", std::move(pods)), "jobs", kWorkloads));
  }

  void add_thing() {
    std::string name = fmt::format("thing-{}", bundle_.objects.size());
    std::string ns = any_team();
    uint64_t what = random_.below(10);
    size_t index = 0;
    if (what < 5 && !brought_.empty()) {
      const Brought& of = brought_[random_.below(brought_.size())];
      bool old = of.converts && random_.chance(0.5);
      // What has no namespace goes to the bundle's home, also where only the server behind the API knows that it has
      // one.
      bool homeless = of.api == kExtensionGroup && random_.chance(0.3);
      Json thing = blank(fmt::format("{}/{}", of.api, old ? "v1beta1" : "v1"), of.kind, homeless ? "" : ns, name);
      thing.make("spec") = Object{{"size", random_.below(100)}};
      index = add(std::move(thing), of.plural, kThings);
      if (homeless) bundle_.objects[index].place.ns = bundle_.home;
      bundle_.objects[index].needs_ready.push_back(of.object);
    } else if (what < 7) {
      index = add(secret(ns, name), "secrets", kThings);
    } else if (what < 8) {
      index = add(blank("v1", "ServiceAccount", ns, name), "serviceaccounts", kThings);
    } else {
      index = add(config_map(ns, name, name), "configmaps", kThings);
    }
    BundleObject& thing = bundle_.objects[index];
    thing.leaf = true;
    if (random_.chance(0.4)) thing.value.make("metadata").make("labels") = Object{{"tier", "a"}};
    if (!workloads_.empty() && random_.chance(0.1)) {
      size_t on = workloads_[random_.below(workloads_.size())];
      const BundleObject& other = bundle_.objects[on];
      thing.needs_ready.push_back(on);
      thing.value.make("metadata").make("annotations").make("config.kubernetes.io/depends-on") =
          fmt::format("{}/namespaces/{}/{}/{}", other.resource.group, other.place.ns, other.value["kind"].string_or(""),
                      other.place.name);
    }
  }

  // Some of the things come after everything else, and some of them after those. Namespaces and CRDs are in no wave.
  void add_waves() {
    std::vector<size_t> earlier;
    for (size_t i = 0; i < bundle_.objects.size(); ++i)
      if (!bundle_.objects[i].leaf && bundle_.objects[i].stage > kDefinitions) earlier.push_back(i);
    std::vector<std::vector<size_t>> waves(3);
    for (size_t i = 0; i < bundle_.objects.size(); ++i)
      if (bundle_.objects[i].leaf) waves[random_.below(3)].push_back(i);
    for (size_t wave = 0; wave < waves.size(); ++wave) {
      if (wave > 0)
        for (size_t i : waves[wave]) {
          BundleObject& object = bundle_.objects[i];
          object.value.make("metadata").make("annotations").make("argocd.argoproj.io/sync-wave") = std::to_string(wave);
          object.needs_ready.insert(object.needs_ready.end(), earlier.begin(), earlier.end());
        }
      earlier.insert(earlier.end(), waves[wave].begin(), waves[wave].end());
    }
  }

  void find_guards() {
    for (BundleObject& object : bundle_.objects)
      for (size_t i = 0; i < bundle_.hooks.size(); ++i) {
        // It stands on what its own pods need.
        if (!object.place.ns.empty() && bundle_.hooks[i].service == object.place.ns + "/hooks") continue;
        const Reach& reach = reaches_[i];
        if (reach.meets(object.resource, object.place.ns, object.value["metadata"]["labels"], guarded_))
          object.hooks.push_back(i);
        const Json& pods = object.value["spec"]["template"]["metadata"];
        if (pods.is_object() && reach.meets({"", "pods"}, object.place.ns, pods["labels"], guarded_))
          object.pod_hooks.push_back(i);
      }
  }

  // What is left out is left out of what others need as well; then the order is lost.
  void leave_out() {
    std::vector<size_t> order;
    for (size_t i = 0; i < bundle_.objects.size(); ++i)
      if (!bundle_.objects[i].leaf || keep_(i)) order.push_back(i);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    std::vector<size_t> place(bundle_.objects.size(), SIZE_MAX);
    for (size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::vector<BundleObject> kept;
    for (size_t i : order) {
      BundleObject& object = kept.emplace_back(std::move(bundle_.objects[i]));
      for (std::vector<size_t>* needs : {&object.needs_stored, &object.needs_ready}) {
        for (size_t& need : *needs) need = place[need];
        std::erase(*needs, SIZE_MAX);
      }
    }
    bundle_.objects = std::move(kept);
  }

  Random random_;
  const std::function<bool(uint64_t)>& keep_;
  RandomBundle bundle_;
  uint64_t teams_ = 1;
  std::vector<std::string> guarded_;
  std::vector<Brought> brought_;
  std::vector<size_t> workloads_;
  std::vector<Reach> reaches_;
};

}  // namespace

BundleObject bundle_object(Json value, std::string_view plural) {
  std::string version(value["apiVersion"].string_or(""));
  size_t slash = version.find('/');
  BundleObject object{.value = std::move(value), .resource = {}, .place = {}};
  object.resource = {slash == std::string::npos ? "" : version.substr(0, slash), std::string(plural)};
  object.place = {std::string(object.value["metadata"]["namespace"].string_or("")),
                  std::string(object.value["metadata"]["name"].string_or(""))};
  return object;
}

manifest::Bundle to_manifest(const std::vector<BundleObject>& objects) {
  manifest::Bundle bundle;
  uint32_t line = 0;
  for (const BundleObject& object : objects)
    if (auto read = object::Object::from(object.value, {.file = "bundle.yaml", .line = ++line}))
      bundle.objects.push_back(*std::move(read));
  return bundle;
}

RandomBundle draw_bundle(Random random, const std::function<bool(uint64_t)>& keep) {
  return Drawing(random, keep).run();
}

}  // namespace fairlead::sim

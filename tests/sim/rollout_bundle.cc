#include "rollout_bundle.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/base64.h"

namespace fairlead::sim {
namespace {

using Object = Json::Object;
using Array = Json::Array;

constexpr std::string_view kAdmission = "admissionregistration.k8s.io";

// What somebody would make first.
enum Stage { kNamespaces, kDefinitions, kParts, kWorkloads, kServices, kConfigurations, kThings };

// What a hook guards.
struct Reach {
  std::string group;
  std::string plural;  // "*" for all of the group
  enum class Only { all, outside_operators, guarded_namespaces, tier_a } only = Only::all;
};

struct Definition {
  std::string kind;
  std::string plural;
  bool converts = false;
  size_t object = 0;
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
    uint64_t operators = random_.below(4);
    for (uint64_t i = 0; i < operators && bundle_.hooks.size() < 6; ++i) add_operator(i);
    if (random_.chance(0.2)) add_policy();
    if (random_.chance(0.3)) add_workload();
    if (random_.chance(0.3)) add_job();
    while (bundle_.objects.size() < size) add_thing();
    if (random_.chance(0.3)) add_waves();
    find_guards();
    leave_out();
    return std::move(bundle_);
  }

 private:
  size_t add(Json value, std::string_view plural, Stage stage) {
    std::string_view version = value["apiVersion"].string_or("");
    size_t slash = version.find('/');
    BundleObject object{.value = std::move(value), .resource = {}, .place = {}};
    object.resource = {std::string(slash == std::string_view::npos ? "" : version.substr(0, slash)),
                       std::string(plural)};
    object.place = {std::string(object.value["metadata"]["namespace"].string_or("")),
                    std::string(object.value["metadata"]["name"].string_or(""))};
    object.stage = stage;
    bundle_.objects.push_back(std::move(object));
    return bundle_.objects.size() - 1;
  }

  static Json start(std::string_view version, std::string_view kind, std::string_view ns, std::string_view name) {
    Object metadata{{"name", name}};
    if (!ns.empty()) metadata["namespace"] = ns;
    return Object{{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
  }

  void add_team(uint64_t team) {
    Json ns = start("v1", "Namespace", "", fmt::format("team-{}", team));
    if (random_.chance(0.6)) {
      ns.make("metadata").make("labels") = Object{{"guarded", "yes"}};
      guarded_.push_back(fmt::format("team-{}", team));
    }
    add(std::move(ns), "namespaces", kNamespaces);
  }
  std::string any_team() { return fmt::format("team-{}", random_.below(teams_)); }

  static Json pod_template(std::string_view app, Object annotations, Object spec) {
    spec.append("containers", Array{Object{{"name", "main"}, {"image", "main:1"}}});
    return Object{{"metadata", Object{{"labels", Object{{"app", app}}}, {"annotations", std::move(annotations)}}},
                  {"spec", std::move(spec)}};
  }
  std::string some_delay(uint64_t limit_ms) { return fmt::format("{}ms", random_.below(limit_ms)); }
  Object pod_habits() {
    Object annotations;
    if (random_.chance(0.6)) annotations["sandbox.fairlead.dev/listens-after"] = some_delay(6000);
    if (random_.chance(0.3)) annotations["sandbox.fairlead.dev/ready-after"] = some_delay(5000);
    if (random_.chance(0.2)) annotations["sandbox.fairlead.dev/started-after"] = some_delay(5000);
    return annotations;
  }

  // With what its pods need, each of them now and then.
  size_t add_deployment(const std::string& ns, const std::string& name, uint64_t replicas) {
    Object spec;
    std::vector<size_t> needs;
    if (random_.chance(0.5)) {
      needs.push_back(add(start("v1", "ServiceAccount", ns, name), "serviceaccounts", kParts));
      spec["serviceAccountName"] = name;
    }
    Array volumes;
    if (random_.chance(0.4)) {
      Json map = start("v1", "ConfigMap", ns, name);
      map.make("data") = Object{{"level", "debug"}};
      needs.push_back(add(std::move(map), "configmaps", kParts));
      volumes.push_back(Object{{"name", "config"}, {"configMap", Object{{"name", name}}}});
    }
    if (random_.chance(0.3)) {
      Json secret = start("v1", "Secret", ns, name);
      secret.make("data") = Object{{"key", "dmFsdWU="}};
      needs.push_back(add(std::move(secret), "secrets", kParts));
      volumes.push_back(Object{{"name", "secret"}, {"secret", Object{{"secretName", name}}}});
    }
    if (!volumes.empty()) spec["volumes"] = std::move(volumes);
    Json deployment = start("apps/v1", "Deployment", ns, name);
    deployment.make("spec") = Object{{"replicas", replicas},
                                     {"selector", Object{{"matchLabels", Object{{"app", name}}}}},
                                     {"template", pod_template(name, pod_habits(), std::move(spec))}};
    size_t index = add(std::move(deployment), "deployments", kWorkloads);
    bundle_.objects[index].needs_stored = std::move(needs);
    return index;
  }

  void add_operator(uint64_t number) {
    std::string ns = fmt::format("op-{}", number);
    add(start("v1", "Namespace", "", ns), "namespaces", kNamespaces);
    bool injected = random_.chance(0.25);
    bundle_.operators.push_back(
        {.service = ns + "/hooks",
         .ca_bundle = fmt::format("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", to_base64(ns)),
         .injected = injected});
    uint64_t replicas = random_.chance(0.2) ? 2 : 1;
    size_t workload = add_deployment(ns, fmt::format("op-{}", number), replicas);
    workloads_.push_back(workload);
    Json service = start("v1", "Service", ns, "hooks");
    service.make("spec") =
        Object{{"selector", Object{{"app", ns}}}, {"ports", Array{Object{{"port", 443}, {"targetPort", 8443}}}}};
    add(std::move(service), "services", kServices);
    if (random_.chance(0.7)) add_definition(number);
    uint64_t configurations = 1 + random_.below(2);
    for (uint64_t i = 0; i < configurations; ++i) add_configuration(number, i);
  }

  Object client_config(uint64_t number, std::string_view path) {
    const BundleOperator& of = bundle_.operators[number];
    Object config{{"service", Object{{"namespace", fmt::format("op-{}", number)}, {"name", "hooks"}, {"path", path}}}};
    if (!of.injected) config["caBundle"] = to_base64(of.ca_bundle);
    return config;
  }

  void add_definition(uint64_t number) {
    Definition definition{.kind = fmt::format("Widget{}", number), .plural = fmt::format("widget{}s", number)};
    definition.converts = random_.chance(0.3);
    auto version = [](std::string_view name, bool storage) {
      return Object{
          {"name", name},
          {"served", true},
          {"storage", storage},
          {"schema",
           Object{
               {"openAPIV3Schema",
                Object{{"type", "object"},
                       {"properties",
                        Object{{"spec", Object{{"type", "object"},
                                               {"properties", Object{{"size", Object{{"type", "integer"}}}}}}}}}}}}}};
    };
    Json crd = start("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", definition.plural + ".example.com");
    Array versions{version("v1", true)};
    if (definition.converts) versions.push_back(version("v1beta1", false));
    std::string lower = fmt::format("widget{}", number);
    crd.make("spec") = Object{{"group", "example.com"},
                              {"scope", "Namespaced"},
                              {"names", Object{{"plural", definition.plural},
                                               {"singular", lower},
                                               {"kind", definition.kind},
                                               {"listKind", definition.kind + "List"}}},
                              {"versions", std::move(versions)}};
    if (definition.converts)
      crd.make("spec").make("conversion") = Object{
          {"strategy", "Webhook"},
          {"webhook",
           Object{{"conversionReviewVersions", Array{"v1"}}, {"clientConfig", client_config(number, "/convert")}}}};
    definition.object = add(std::move(crd), "customresourcedefinitions", kDefinitions);
    definitions_.push_back(std::move(definition));
  }

  Reach draw_reach(uint64_t number) {
    Reach reach;
    uint64_t what = random_.below(4);
    bool own = !definitions_.empty() && definitions_.back().kind == fmt::format("Widget{}", number);
    if (what <= 1 && own) {
      reach = {"example.com", what == 0 ? definitions_.back().plural : "*"};
    } else if (what == 2) {
      reach = {"", "secrets"};
    } else {
      reach = {"", "configmaps"};
    }
    // Two that each guard what the other one stands on could never be installed.
    using Only = Reach::Only;
    Only choices[] = {Only::outside_operators, Only::guarded_namespaces, Only::tier_a, Only::all};
    bool may_be_all = number == 0 || reach.group == "example.com";
    reach.only = choices[random_.below(may_be_all ? 4 : 3)];
    return reach;
  }

  void restrict(Object& hook, const Reach& reach) {
    using Only = Reach::Only;
    if (reach.only == Only::outside_operators)
      hook["namespaceSelector"] =
          Object{{"matchExpressions", Array{Object{{"key", "kubernetes.io/metadata.name"},
                                                   {"operator", "NotIn"},
                                                   {"values", Array{"op-0", "op-1", "op-2", "op-3"}}}}}};
    if (reach.only == Only::guarded_namespaces)
      hook["namespaceSelector"] = Object{{"matchLabels", Object{{"guarded", "yes"}}}};
    if (reach.only == Only::tier_a) hook["objectSelector"] = Object{{"matchLabels", Object{{"tier", "a"}}}};
  }

  void add_configuration(uint64_t number, uint64_t which) {
    bool mutating = random_.chance(0.4);
    std::string name = fmt::format("op-{}-{}", number, which);
    Array hooks;
    uint64_t count = 1 + random_.below(2);
    for (uint64_t i = 0; i < count && bundle_.hooks.size() < 6; ++i) {
      BundleHook hook{.name = fmt::format("h{}.{}.example.com", i, name),
                      .configuration = name,
                      .service = bundle_.operators[number].service,
                      .path = fmt::format("/h{}-{}", which, i),
                      .mutating = mutating,
                      .ignore = random_.chance(0.4)};
      Reach reach = draw_reach(number);
      Array operations{"CREATE"};
      hook.on_update = random_.chance(0.7);
      if (hook.on_update) operations.push_back("UPDATE");
      Object value{{"name", hook.name},
                   {"clientConfig", client_config(number, hook.path)},
                   {"rules", Array{Object{{"apiGroups", Array{reach.group}},
                                          {"apiVersions", Array{"*"}},
                                          {"operations", std::move(operations)},
                                          {"resources", Array{reach.plural}}}}},
                   {"failurePolicy", hook.ignore ? "Ignore" : "Fail"},
                   {"timeoutSeconds", 1 + random_.below(10)},
                   {"sideEffects", "None"},
                   {"admissionReviewVersions", Array{"v1"}}};
      restrict(value, reach);
      hooks.push_back(std::move(value));
      if (hook.ignore) bundle_.operators[number].fails_closed = false;
      bundle_.hooks.push_back(std::move(hook));
      reaches_.push_back(std::move(reach));
    }
    if (hooks.empty()) return;
    Json configuration = start(fmt::format("{}/v1", kAdmission),
                               mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration", "", name);
    configuration.make("webhooks") = std::move(hooks);
    add(std::move(configuration), mutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations",
        kConfigurations);
  }

  void add_policy() {
    std::string version = fmt::format("{}/v1", kAdmission);
    Json policy = start(version, "ValidatingAdmissionPolicy", "", "sizes");
    policy.make("spec") =
        Object{{"failurePolicy", "Fail"},
               {"matchConstraints", Object{{"resourceRules", Array{Object{{"apiGroups", Array{""}},
                                                                          {"apiVersions", Array{"v1"}},
                                                                          {"operations", Array{"CREATE", "UPDATE"}},
                                                                          {"resources", Array{"configmaps"}}}}}}},
               {"validations", Array{Object{{"expression", "object.metadata.name != 'forbidden'"}}}}};
    size_t on = add(std::move(policy), "validatingadmissionpolicies", kConfigurations);
    Json binding = start(version, "ValidatingAdmissionPolicyBinding", "", "sizes");
    binding.make("spec") = Object{{"policyName", "sizes"}, {"validationActions", Array{"Deny"}}};
    size_t index = add(std::move(binding), "validatingadmissionpolicybindings", kConfigurations);
    bundle_.objects[index].needs_stored = {on};
  }

  void add_workload() { workloads_.push_back(add_deployment(any_team(), "app", 1 + random_.below(2))); }

  void add_job() {
    Object spec{{"restartPolicy", "Never"}};
    Json job = start("batch/v1", "Job", any_team(), "migrate");
    job.make("spec") =
        Object{{"template",
                pod_template("migrate", Object{{"sandbox.fairlead.dev/runs-for", some_delay(4000)}}, std::move(spec))}};
    workloads_.push_back(add(std::move(job), "jobs", kWorkloads));
  }

  void add_thing() {
    std::string name = fmt::format("thing-{}", bundle_.objects.size());
    std::string ns = any_team();
    uint64_t what = random_.below(10);
    size_t index = 0;
    if (what < 5 && !definitions_.empty()) {
      const Definition& of = definitions_[random_.below(definitions_.size())];
      bool old = of.converts && random_.chance(0.5);
      Json thing = start(old ? "example.com/v1beta1" : "example.com/v1", of.kind, ns, name);
      thing.make("spec") = Object{{"size", random_.below(100)}};
      index = add(std::move(thing), of.plural, kThings);
      bundle_.objects[index].needs_ready.push_back(of.object);
    } else if (what < 7) {
      Json secret = start("v1", "Secret", ns, name);
      secret.make("data") = Object{{"key", "dmFsdWU="}};
      index = add(std::move(secret), "secrets", kThings);
    } else if (what < 8) {
      index = add(start("v1", "ServiceAccount", ns, name), "serviceaccounts", kThings);
    } else {
      Json map = start("v1", "ConfigMap", ns, name);
      map.make("data") = Object{{"of", name}};
      index = add(std::move(map), "configmaps", kThings);
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

  bool reaches(const Reach& reach, const BundleObject& object) const {
    if (reach.group != object.resource.group || (reach.plural != "*" && reach.plural != object.resource.resource))
      return false;
    switch (reach.only) {
      case Reach::Only::all: return true;
      case Reach::Only::outside_operators: return !object.place.ns.starts_with("op-");
      case Reach::Only::guarded_namespaces: return std::ranges::find(guarded_, object.place.ns) != guarded_.end();
      case Reach::Only::tier_a: return object.value["metadata"]["labels"]["tier"].string_or("") == "a";
    }
    return false;
  }

  void find_guards() {
    for (BundleObject& object : bundle_.objects)
      for (size_t i = 0; i < bundle_.hooks.size(); ++i) {
        const std::string& service = bundle_.hooks[i].service;
        // It stands on what its own pods need.
        bool own = !object.place.ns.empty() && service == object.place.ns + "/hooks";
        if (reaches(reaches_[i], object) && !own) object.hooks.push_back(i);
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
  std::vector<Definition> definitions_;
  std::vector<size_t> workloads_;
  std::vector<Reach> reaches_;
};

}  // namespace

manifest::Bundle RandomBundle::manifest() const {
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

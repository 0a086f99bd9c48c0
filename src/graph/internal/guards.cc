#include "graph/internal/guards.h"

#include <map>
#include <unordered_set>

#include "admission/client_config.h"
#include "admission/own.h"
#include "object/definition.h"

namespace fairlead::graph {
namespace {

object::Key key_of(std::string_view group, const Json& object) {
  return {std::string(group),
          std::string(object["kind"].string_or("")),
          {},
          std::string(object["metadata"]["name"].string_or(""))};
}

class Guards {
 public:
  explicit Guards(GraphBuilder& builder) : builder_(builder) {}

  plan::IdVector<GuardId, GuardMatcher> run() {
    note_cluster(builder_.cluster.webhook_configurations, kRegistration);
    note_cluster(builder_.cluster.bindings, kRegistration);
    note_cluster(builder_.cluster.definitions, "apiextensions.k8s.io");
    note_cluster(builder_.cluster.api_services, "apiregistration.k8s.io");
    each(Family::webhook_configuration, builder_.cluster.webhook_configurations, kRegistration,
         [&](const Json& value, NodeId object, bool live) { add_webhooks(value, object, live); });
    each(Family::policy, builder_.cluster.policies, kRegistration,
         [&](const Json& value, NodeId, bool) { note_policy(value); });
    each(Family::policy_binding, builder_.cluster.bindings, kRegistration,
         [&](const Json& value, NodeId object, bool live) { add_binding(value, object, live); });
    each(Family::definition, builder_.cluster.definitions, "apiextensions.k8s.io",
         [&](const Json& value, NodeId object, bool live) { add_conversion(value, object, live); });
    each(Family::api_service, builder_.cluster.api_services, "apiregistration.k8s.io",
         [&](const Json& value, NodeId object, bool live) { add_api_service(value, object, live); });

    plan::IdVector<GuardId, Guard>& guards = builder_.contents->guards;
    for (GuardId i : guards.ids()) {
      builder_.add_node(Node::Kind::guard, i.index());
      if (guards[i].webhook) matchers_[i].webhook = &*guards[i].webhook;
    }
    return std::move(matchers_);
  }

 private:
  void note_cluster(const std::vector<Json>& list, std::string_view group) {
    for (const Json& value : list) live_.insert(key_of(group, value));
  }

  // Calls `take` for the objects of the bundle, then for those that only the cluster has. If both have an object, the
  // bundle's version counts.
  template <class Take>
  void each(Family family, const std::vector<Json>& cluster, std::string_view group, Take take) {
    for (NodeId i : builder_.objects()) {
      if (builder_.family(i) != family || builder_.contents->left_out[i] || builder_.find(view(builder_.key(i))) != i)
        continue;
      take(builder_.value(i), i, live_.contains(builder_.key(i)));
    }
    for (const Json& value : cluster)
      if (builder_.find(view(key_of(group, value))) == kNoNode) take(value, kNoNode, true);
  }

  Guard& add(Guard::Kind kind, std::string name, object::Key configuration, NodeId object, bool live) {
    Guard guard;
    guard.kind = kind;
    guard.name = std::move(name);
    guard.configuration = std::move(configuration);
    if (object != kNoNode) guard.object = object;
    guard.in_cluster = live;
    matchers_.add({});
    builder_.contents->guards.add(std::move(guard));
    return builder_.contents->guards.back();
  }

  void add_webhooks(const Json& value, NodeId object, bool live) {
    if (admission::is_of_fairlead(value)) return;
    object::Key key = key_of(kRegistration, value);
    for (admission::Webhook& webhook : admission::read_webhooks(value)) {
      bool mutating = webhook.kind == admission::Webhook::Kind::mutating;
      Guard& guard = add(mutating ? Guard::Kind::mutating_webhook : Guard::Kind::validating_webhook, webhook.name, key,
                         object, live);
      guard.ignore = webhook.failure_policy == admission::FailurePolicy::ignore;
      guard.service = webhook.service;
      guard.url = webhook.url;
      guard.ca_bundle = webhook.ca_bundle;
      guard.webhook = std::move(webhook);
    }
  }

  static std::string policy_name(admission::Policy::Kind kind, std::string_view name) {
    return std::string(kind == admission::Policy::Kind::mutating ? "mutating/" : "validating/").append(name);
  }

  void note_policy(const Json& value) {
    std::optional<admission::Policy> policy = admission::Policy::read(value);
    if (!policy) return;
    std::string name = policy_name(policy->kind, policy->name);
    policies_.try_emplace(std::move(name), *std::move(policy));
  }

  void add_binding(const Json& value, NodeId object, bool live) {
    std::optional<admission::Binding> binding = admission::Binding::read(value);
    if (!binding) return;
    auto policy = policies_.find(policy_name(binding->kind, binding->policy));
    if (policy == policies_.end()) return;
    bool mutating = binding->kind == admission::Policy::Kind::mutating;
    Guard& guard = add(mutating ? Guard::Kind::mutating_policy : Guard::Kind::validating_policy, binding->policy,
                       key_of(kRegistration, value), object, live);
    guard.ignore = policy->second.failure_policy == admission::FailurePolicy::ignore;
    matchers_.back().policy = policy->second;
    matchers_.back().binding = std::move(binding);
  }

  void add_conversion(const Json& value, NodeId object, bool live) {
    const Json& client = object::Definition(value).conversion_client();
    if (client.is_null()) return;
    object::Key key = key_of("apiextensions.k8s.io", value);
    Guard& guard = add(Guard::Kind::conversion, key.name, key, object, live);
    guard.service = admission::read_service(client["service"]);
    guard.url = client["url"].string_or("");
    guard.ca_bundle = client["caBundle"].string_or("");
  }

  void add_api_service(const Json& value, NodeId object, bool live) {
    const Json& spec = value["spec"];
    if (!spec["service"].is_object()) return;
    object::Key key = key_of("apiregistration.k8s.io", value);
    Guard& guard = add(Guard::Kind::api_service, key.name, key, object, live);
    guard.service = admission::read_service(spec["service"]);
    guard.ca_bundle = spec["caBundle"].string_or("");
  }

  GraphBuilder& builder_;
  std::unordered_set<object::Key> live_;
  std::map<std::string, admission::Policy> policies_;
  plan::IdVector<GuardId, GuardMatcher> matchers_;
};

}  // namespace

plan::IdVector<GuardId, GuardMatcher> add_guards(GraphBuilder& builder) { return Guards(builder).run(); }

}  // namespace fairlead::graph

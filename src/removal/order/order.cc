#include "removal/order/order.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "graph/graph.h"
#include "object/containers.h"
#include "object/definition.h"
#include "plan/adjacency.h"
#include "removal/order/asked.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

using Strength = Edge::Strength;

// The lowest number is deleted first. With an edge of strength `must`, no target waits for one with a higher number, so
// these edges form no loops.
enum class Turn : uint8_t { held, definition, webhook, rest, name_space };

bool is_api_service(const object::Key& key) {
  return key.group == "apiregistration.k8s.io" && key.kind == "APIService";
}
bool is_webhook_configuration(const object::Key& key) {
  return key.group == "admissionregistration.k8s.io" && key.kind.ends_with("WebhookConfiguration");
}

// True if the group does not belong to Kubernetes itself. Nothing but its name tells a group of Kubernetes from one of
// an add-on that has its own API.
bool is_custom(const object::Key& key) {
  static const std::set<std::string_view> kOwn{"apps",
                                               "batch",
                                               "autoscaling",
                                               "policy",
                                               "extensions",
                                               "admissionregistration.k8s.io",
                                               "apiextensions.k8s.io",
                                               "apiregistration.k8s.io",
                                               "authentication.k8s.io",
                                               "authorization.k8s.io",
                                               "certificates.k8s.io",
                                               "coordination.k8s.io",
                                               "discovery.k8s.io",
                                               "events.k8s.io",
                                               "flowcontrol.apiserver.k8s.io",
                                               "internal.apiserver.k8s.io",
                                               "networking.k8s.io",
                                               "node.k8s.io",
                                               "rbac.authorization.k8s.io",
                                               "resource.k8s.io",
                                               "scheduling.k8s.io",
                                               "storage.k8s.io",
                                               "storagemigration.k8s.io"};
  return !key.group.empty() && !kOwn.contains(key.group);
}

class Ordering {
 public:
  explicit Ordering(const plan::IdVector<NodeId, LiveTarget>& targets)
      : targets_(targets), turns_(targets.size(), Turn::rest) {
    order_.targets = targets.size();
  }

  Order run() {
    for (NodeId i : ids())
      if (is_webhook_configuration(targets_[i].key))
        for (admission::Webhook& webhook : admission::read_webhooks(*targets_[i].live))
          webhooks_.push_back({i, std::move(webhook)});
    for (NodeId i : ids()) turns_[i] = turn_of(targets_[i]);
    add_definitions();
    add_api_services();
    add_webhooks();
    add_rest();
    add_wishes();
    add_namespaces();
    break_loops(order_);
    return std::move(order_);
  }

 private:
  plan::IdRange<NodeId> ids() const { return targets_.ids(); }

  struct Hook {
    NodeId configuration;
    admission::Webhook webhook;
  };

  Turn turn_of(const LiveTarget& target) const {
    const object::Key& key = target.key;
    if (is_namespace(key)) return Turn::name_space;
    if (is_crd(key) || is_api_service(key)) return Turn::definition;
    if (is_webhook_configuration(key)) return Turn::webhook;
    if (is_custom(key) || has_foreign_finalizer(*target.live)) return Turn::held;
    for (const Hook& hook : webhooks_) {
      // An object that may be behind the webhook itself stays until the webhook is no longer called.
      if (hook.webhook.service && hook.webhook.service->ns == key.ns) continue;
      if (is_asked(hook.webhook, target, admission::Operation::remove)) return Turn::held;
    }
    return Turn::rest;
  }

  void after(NodeId later, NodeId sooner, Strength strength, std::string reason) {
    if (later != sooner) order_.edges.push_back({later, sooner, strength, std::move(reason)});
  }

  // Adds a node that is done when all members are deleted.
  NodeId add_group(std::string text, const std::vector<NodeId>& members) {
    NodeId node(order_.nodes());
    order_.groups.push_back(std::move(text));
    for (NodeId member : members) after(node, member, Strength::must, "");
    return node;
  }
  NodeId all_of(Turn turn, std::string text) {
    std::vector<NodeId> members;
    for (NodeId i : ids())
      if (turns_[i] == turn) members.push_back(i);
    return add_group(std::move(text), members);
  }

  bool has(Turn turn) const { return std::ranges::find(turns_, turn) != turns_.end(); }

  void add_definitions() {
    std::unordered_map<std::string, NodeId> definitions;
    for (NodeId i : ids())
      if (is_crd(targets_[i].key)) {
        object::Definition definition(*targets_[i].live);
        definitions[fmt::format("{}/{}", definition.group(), definition.kind())] = i;
      }
    if (definitions.empty()) return;
    for (NodeId i : ids()) {
      auto found = definitions.find(targets_[i].key.group + "/" + targets_[i].key.kind);
      if (found != definitions.end()) after(found->second, i, Strength::must, "an instance of it");
    }
  }

  void add_api_services() {
    for (NodeId service : ids()) {
      if (!is_api_service(targets_[service].key)) continue;
      std::string_view group = (*targets_[service].live)["spec"]["group"].string_or("");
      for (NodeId i : ids())
        if (targets_[i].key.group == group && turns_[i] == Turn::held)
          after(service, i, Strength::must, "served by its API");
    }
  }

  // As long as a configuration exists, its webhook is called for every update that removes a finalizer.
  void add_webhooks() {
    for (const Hook& hook : webhooks_) {
      for (NodeId i : ids()) {
        if (turns_[i] != Turn::held) continue;
        if (is_asked(hook.webhook, targets_[i], admission::Operation::update) ||
            is_asked(hook.webhook, targets_[i], admission::Operation::remove))
          after(hook.configuration, i, Strength::must, fmt::format("guarded by webhook {}", hook.webhook.name));
      }
    }
    for (NodeId i : ids()) {
      if (turns_[i] != Turn::webhook) continue;
      for (NodeId definition : ids())
        if (is_crd(targets_[definition].key))
          after(i, definition, targets_[definition].takes_others ? Strength::must : Strength::better,
                "it may guard the instances");
    }
  }

  void add_rest() {
    if (!has(Turn::rest)) return;
    std::vector<std::pair<NodeId, std::string>> gates;
    if (has(Turn::held))
      gates.emplace_back(all_of(Turn::held, "objects that controllers clean up"), "the cleanup may need it");
    if (has(Turn::webhook))
      gates.emplace_back(all_of(Turn::webhook, "webhook configurations"), "it may serve a webhook");
    for (const auto& [gate, reason] : gates)
      for (NodeId i : ids())
        if (turns_[i] == Turn::rest) after(i, gate, Strength::must, reason);
    for (Strength strength : {Strength::must, Strength::better}) {
      std::vector<NodeId> concerned;
      for (NodeId i : ids()) {
        bool must = targets_[i].takes_others || is_api_service(targets_[i].key);
        if (turns_[i] == Turn::definition && must == (strength == Strength::must)) concerned.push_back(i);
      }
      if (concerned.empty()) continue;
      NodeId gate = add_group("CRDs and APIServices", concerned);
      for (NodeId i : ids())
        if (turns_[i] == Turn::rest) after(i, gate, strength, "it may serve them or clean up their instances");
    }
  }

  void add_namespaces() {
    if (!has(Turn::name_space)) return;
    std::unordered_map<std::string, NodeId> namespaces;
    for (NodeId i : ids())
      if (turns_[i] == Turn::name_space) namespaces[targets_[i].key.name] = i;
    std::set<std::string> ordered = namespaces_with_an_order();
    for (NodeId i : ids()) {
      const std::string& ns = targets_[i].key.ns;
      auto found = namespaces.find(ns);
      if (ns.empty() || found == namespaces.end()) continue;
      if (!targets_[found->second].at_once || ordered.contains(ns))
        after(found->second, i, Strength::must, "in this namespace");
    }
    // A namespace may contain a controller that cleans up, or pods behind a webhook or an API, whoever created them.
    for (Turn turn : {Turn::held, Turn::definition, Turn::webhook}) {
      if (!has(turn)) continue;
      NodeId gate = all_of(turn, turn == Turn::held         ? "objects that controllers clean up"
                                 : turn == Turn::definition ? "CRDs and APIServices"
                                                            : "webhook configurations");
      for (const auto& [name, node] : namespaces)
        after(node, gate, Strength::must, "the controllers that clean up may be in it");
    }
  }

  // Returns the namespaces in which some objects have to be deleted before others.
  std::set<std::string> namespaces_with_an_order() const {
    std::set<std::string> names;
    for (NodeId i : ids())
      if (turns_[i] != Turn::rest) names.insert(targets_[i].key.ns);
    for (const Edge& edge : order_.edges) {
      if (edge.strength != Strength::wished) continue;
      for (NodeId node : {edge.later, edge.sooner})
        if (ids().contains(node)) names.insert(targets_[node].key.ns);
    }
    return names;
  }

  // Adds the needs that people wrote down, reversed.
  void add_wishes() {
    manifest::Bundle bundle;
    plan::IdVector<NodeId, NodeId> of;  // from the nodes of the graph to ours
    auto is_annotated = [](const LiveTarget& target) { return (*target.live)["metadata"]["annotations"].is_object(); };
    if (std::ranges::none_of(targets_, is_annotated)) return;
    for (NodeId i : ids()) {
      // Only the annotations matter here, not the rest of the object.
      const Json& metadata = (*targets_[i].live)["metadata"];
      Json value(Json::Object{
          {"apiVersion", targets_[i].resource.api_version()},
          {"kind", targets_[i].key.kind},
          {"metadata", Json::Object{{"name", targets_[i].key.name}, {"annotations", metadata["annotations"]}}}});
      if (!targets_[i].key.ns.empty()) value.make("metadata").make("namespace") = targets_[i].key.ns;
      Result<object::Object> object = object::Object::from(std::move(value));
      if (!object) continue;
      bundle.objects.push_back(*std::move(object));
      of.add(i);
    }
    graph::Graph graph = graph::Graph::build(bundle, {});
    std::unordered_map<NodeId, NodeId> waves;
    for (NodeId node : graph.nodes().ids())
      if (graph.nodes()[node].kind == graph::Node::Kind::wave) {
        waves[node] = NodeId(order_.nodes());
        order_.groups.push_back(graph.text(node));
      }
    auto own = [&](NodeId node) -> std::optional<NodeId> {
      if (of.ids().contains(node)) return of[node];
      auto found = waves.find(node);
      return found == waves.end() ? std::nullopt : std::optional(found->second);
    };
    for (NodeId node : graph.nodes().ids()) {
      std::optional<NodeId> sooner = own(node);
      if (!sooner) continue;
      for (const graph::Need& need : graph.needs_of(node)) {
        std::optional<NodeId> later = own(need.target);
        bool is_wave = waves.contains(node) || waves.contains(need.target);
        bool is_written = need.reason == "config.kubernetes.io/depends-on" || need.reason == "fairlead.dev/needs";
        if (!later || !need.hard || !(is_wave || is_written)) continue;
        after(*later, *sooner, Strength::wished,
              is_wave ? "waves are deleted in reverse order" : std::string(need.reason));
      }
    }
  }

  const plan::IdVector<NodeId, LiveTarget>& targets_;
  plan::IdVector<NodeId, Turn> turns_;
  std::vector<Hook> webhooks_;
  Order order_;
};

plan::IdVector<NodeId, uint32_t> components_of(const Order& order) {
  plan::Adjacency<NodeId> adjacency(order.nodes());
  for (const Edge& edge : order.edges) adjacency.count(edge.sooner);
  adjacency.lay_out();
  for (const Edge& edge : order.edges) adjacency.add(edge.sooner, edge.later);
  return plan::components(adjacency);
}

}  // namespace

void break_loops(Order& order) {
  for (Strength weakest : {Strength::better, Strength::wished}) {
    plan::IdVector<NodeId, uint32_t> component = components_of(order);
    auto closes = [&](const Edge& edge) {
      return edge.strength == weakest && component[edge.later] == component[edge.sooner];
    };
    if (weakest == Strength::wished) {
      std::set<std::string> reasons;
      for (const Edge& edge : order.edges)
        if (closes(edge)) reasons.insert(edge.reason);
      for (const std::string& reason : reasons)
        order.notes.push_back(
            fmt::format("{}: ignored where it contradicts what finalizers and webhooks need", reason));
    }
    std::erase_if(order.edges, closes);
  }
}

Order order_of(const plan::IdVector<NodeId, LiveTarget>& targets) { return Ordering(targets).run(); }

}  // namespace fairlead::removal

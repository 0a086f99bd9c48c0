#include "rollout/core/run.h"

#include "object/containers.h"
#include "plan/stopping.h"
#include "readiness/timeouts.h"

namespace fairlead::rollout {

using journal::EventKind;

bool is_terminating(const Json& object) { return object["metadata"].contains("deletionTimestamp"); }

std::string_view name_of(ObjectState::Stored stored) {
  switch (stored) {
    case ObjectState::Stored::no: return "not stored";
    case ObjectState::Stored::created: return "created";
    case ObjectState::Stored::changed: return "changed";
    case ObjectState::Stored::unchanged: return "unchanged";
  }
  return "";
}

Result<object::Key> key_of(const Json& object) {
  TRY_ASSIGN(object::ApiVersion version, object::ApiVersion::parse(object["apiVersion"].string_or("")));
  const Json& metadata = object["metadata"];
  return object::Key{.group = std::move(version.group),
                     .kind = std::string(object["kind"].string_or("")),
                     .ns = std::string(metadata["namespace"].string_or("")),
                     .name = std::string(metadata["name"].string_or(""))};
}

Run::Run(kube::Client& client, journal::Journal& journal, const Options& options, manifest::Bundle& bundle,
         Kinds& kinds, const graph::ClusterState& cluster, const graph::Graph& graph, Writer writer,
         uint64_t version_before, TimePoint expires)
    : client_(client),
      journal_(journal),
      options_(options),
      bundle_(bundle),
      kinds_(kinds),
      cluster_(cluster),
      graph_(graph),
      loop_(client.loop()),
      changed_(loop_),
      halt_(loop_, plan::kLandingTime),
      plan_(plan_of(graph)),
      states_(bundle.objects.size()),
      unchanged_(bundle.objects.size()),
      settled_at_(graph.nodes().size()),
      begun_(loop_.now()),
      expires_(expires),
      begun_at_server_(client.server_now()),
      version_before_(version_before),
      writer_(std::move(writer)) {
  for (NodeId node : objects()) nodes_.emplace(object(node).key(), node);
  for (const auto* list : {&cluster.webhook_configurations, &cluster.policies, &cluster.bindings, &cluster.definitions,
                           &cluster.api_services, &cluster.namespaces})
    for (const Json& there : *list)
      if (Result<object::Key> key = key_of(there)) before_.emplace(*std::move(key), &there);
}

const Json* Run::before(const object::Key& key) const {
  auto found = before_.find(key);
  return found == before_.end() ? nullptr : found->second;
}

std::optional<Duration> Run::chosen_timeout(const object::Key& key) const {
  auto set = options_.timeout_for.find(key.kind + "." + key.group);
  if (set == options_.timeout_for.end()) set = options_.timeout_for.find(key.kind);
  return set == options_.timeout_for.end() ? std::nullopt : std::optional(set->second);
}

Duration Run::timeout_for(const object::Key& key) const {
  return chosen_timeout(key).value_or(readiness::default_timeouts(key.group, key.kind).ready);
}

std::optional<NodeId> Run::find(const object::Key& key) const {
  auto found = nodes_.find(key);
  return found == nodes_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Error> Run::place(NodeId node) {
  object::Object& it = bundle_.objects[node.index()];
  std::optional<Error> error = rollout::place(it, *kinds_.of(it), options_);
  nodes_.emplace(it.key(), node);
  return error;
}

bool Run::must_be_new(NodeId node) const {
  const std::string& group = object(node).group();
  return cluster_.guards_known && !before(node) &&
         (group == "admissionregistration.k8s.io" || group == "apiextensions.k8s.io");
}

object::Key Run::definition_of(NodeId node) const {
  return object::crd_key(kinds_.of(object(node))->name_with_group());
}

std::vector<object::Key> Run::containers_of(NodeId node) const {
  std::vector<object::Key> keys;
  const object::Object& it = object(node);
  if (!it.ns().empty()) keys.push_back(object::namespace_key(it.ns()));
  if (kinds_.of(it)) keys.push_back(definition_of(node));
  return keys;
}

inventory::Successor Run::successor() const {
  return {.field_manager = writer_.field_manager, .label_value = writer_.part_of, .predecessors = writer_.predecessors};
}

const Json* Run::service(const std::string& ns, const std::string& name) const {
  if (auto node = find({.group = "", .kind = "Service", .ns = ns, .name = name})) return &object(*node).value();
  for (const Json& service : cluster_.services) {
    const Json& metadata = service["metadata"];
    if (metadata["name"].string_or("") == name && metadata["namespace"].string_or("") == ns) return &service;
  }
  return nullptr;
}

void Run::tell(EventKind kind, NodeId node, std::string state, std::string text, std::optional<Error> error) {
  journal::Event event{.kind = kind, .state = std::move(state), .text = std::move(text), .error = std::move(error)};
  if (is_object(node)) {
    event.key = object(node).key();
    event.source = object(node).source().text();
    if (journal_.is_detailed() && states_[node].started != TimePoint{} && kind != EventKind::ready)
      event.details =
          Json(Json::Object{{"sent", std::chrono::duration<double>(journal_.at(states_[node].started)).count()}});
  } else {
    event.details = Json(Json::Object{{"guard", graph_.text(node)}});
  }
  journal_.add(std::move(event));
}

void Run::note(EventKind kind, std::string text, std::optional<Error> error) {
  journal_.add({.kind = kind, .text = std::move(text), .error = std::move(error)});
}

void Run::stored(NodeId node) {
  states_[node].stored_at = loop_.now();
  plan_.stored(node);
  changed_.notify_all();
}

void Run::ready(NodeId node) {
  if (plan_.is_settled(node)) return;
  settled_at_[node] = loop_.now();
  bool is_news = is_object(node) && states_[node].stored != ObjectState::Stored::unchanged;
  if (is_news) tell(EventKind::ready, node, "ready", states_[node].verdict.reason);
  plan_.done(node);
  changed_.notify_all();
}

void Run::failed(NodeId node, Error error) {
  if (plan_.is_settled(node)) return;
  tell(EventKind::failed, node, "failed", "", error);
  settled_at_[node] = loop_.now();
  errors_.emplace(node, std::move(error));
  plan_.failed(node);
  changed_.notify_all();
}

}  // namespace fairlead::rollout

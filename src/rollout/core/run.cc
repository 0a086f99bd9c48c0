#include "rollout/core/run.h"

#include "object/containers.h"
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

const Json* Run::before(uint32_t node) const {
  auto found = live.find(object(node).key());
  return found == live.end() ? nullptr : found->second;
}

std::optional<Duration> Run::chosen_timeout(const object::Key& key) const {
  auto set = options.timeout_for.find(key.kind + "." + key.group);
  if (set == options.timeout_for.end()) set = options.timeout_for.find(key.kind);
  return set == options.timeout_for.end() ? std::nullopt : std::optional(set->second);
}

Duration Run::timeout_for(const object::Key& key) const {
  return chosen_timeout(key).value_or(readiness::default_timeouts(key.group, key.kind).ready);
}

std::optional<uint32_t> Run::find(const object::Key& key) const {
  auto found = nodes.find(key);
  return found == nodes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Error> Run::place(uint32_t node) {
  object::Object& it = bundle.objects[node];
  std::optional<Error> error = rollout::place(it, *kinds.of(it), options);
  nodes.emplace(it.key(), node);
  return error;
}

bool Run::must_be_new(uint32_t node) const {
  const std::string& group = object(node).group();
  return cluster.guards_known && !before(node) &&
         (group == "admissionregistration.k8s.io" || group == "apiextensions.k8s.io");
}

object::Key Run::definition_of(uint32_t node) const {
  return object::crd_key(kinds.of(object(node))->name_with_group());
}

std::vector<object::Key> Run::containers_of(uint32_t node) const {
  std::vector<object::Key> keys;
  const object::Object& it = object(node);
  if (!it.ns().empty()) keys.push_back(object::namespace_key(it.ns()));
  if (kinds.of(it)) keys.push_back(definition_of(node));
  return keys;
}

inventory::Successor Run::successor() const {
  return {.field_manager = field_manager, .label_value = part_of, .predecessors = predecessors};
}

const Json* Run::service(const std::string& ns, const std::string& name) const {
  if (auto node = find({.group = "", .kind = "Service", .ns = ns, .name = name})) return &object(*node).value();
  for (const Json& service : cluster.services) {
    const Json& metadata = service["metadata"];
    if (metadata["name"].string_or("") == name && metadata["namespace"].string_or("") == ns) return &service;
  }
  return nullptr;
}

void Run::tell(EventKind kind, uint32_t node, std::string state, std::string text, std::optional<Error> error) {
  journal::Event event{.kind = kind, .state = std::move(state), .text = std::move(text), .error = std::move(error)};
  if (node < bundle.objects.size()) {
    event.key = object(node).key();
    event.source = object(node).source().text();
    if (journal.is_detailed() && states[node].started != TimePoint{} && kind != EventKind::ready)
      event.details =
          Json(Json::Object{{"sent", std::chrono::duration<double>(journal.at(states[node].started)).count()}});
  } else {
    event.details = Json(Json::Object{{"guard", graph.text(node)}});
  }
  journal.add(std::move(event));
}

void Run::note(EventKind kind, std::string text, std::optional<Error> error) {
  journal.add({.kind = kind, .text = std::move(text), .error = std::move(error)});
}

void Run::stored(uint32_t node) {
  states[node].stored_at = loop.now();
  plan.stored(node);
  changed.notify_all();
}

void Run::ready(uint32_t node) {
  if (plan.is_settled(node)) return;
  settled_at[node] = loop.now();
  bool is_news = node < states.size() && states[node].stored != ObjectState::Stored::unchanged;
  if (is_news) tell(EventKind::ready, node, "ready", states[node].verdict.reason);
  plan.done(node);
  changed.notify_all();
}

void Run::failed(uint32_t node, Error error) {
  if (plan.is_settled(node)) return;
  tell(EventKind::failed, node, "failed", "", error);
  settled_at[node] = loop.now();
  errors.emplace(node, std::move(error));
  plan.failed(node);
  changed.notify_all();
}

}  // namespace fairlead::rollout

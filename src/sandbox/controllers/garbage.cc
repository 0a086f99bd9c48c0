// Garbage: objects whose owners are gone go as well; owners wait for what blocks their deletion, or let go of it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sandbox/controllers/workload.h"

namespace fairlead::sandbox {
namespace {

struct Node {
  ResourceId resource;
  Place place;
  auto operator<=>(const Node&) const = default;
};

bool has_finalizer(const Json& object, std::string_view finalizer) {
  for (const Json& one : object["metadata"]["finalizers"].items())
    if (one.string_or("") == finalizer) return true;
  return false;
}

// Keys are "group/resource/namespace/name" in a Place's name, so that one queue serves all kinds.
Place key_of(const ResourceId& resource, const Place& place) {
  return {resource.group + "/" + resource.resource, place.ns + "/" + place.name};
}

Node node_of(const Place& key) {
  size_t slash = key.ns.find('/'), at = key.name.find('/');
  return {{key.ns.substr(0, slash), key.ns.substr(slash + 1)}, {key.name.substr(0, at), key.name.substr(at + 1)}};
}

class GarbageCollector final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == ResourceId{"", "events"}) return;
    Node node{resource, event.place};
    if (event.previous)
      for (const Json& owner : (*event.previous)["metadata"]["ownerReferences"].items())
        dependents_[std::string(owner["uid"].string_or(""))].erase(node);
    std::string uid = uid_of(*event.object);
    if (event.type == Event::Type::deleted) {
      for (const Node& dependent : dependents_of(uid)) add(key_of(dependent.resource, dependent.place));
      // An owner in foreground deletion may have waited for this one.
      wake_owners(*event.object);
      return;
    }
    bool owned = false;
    for (const Json& owner : (*event.object)["metadata"]["ownerReferences"].items()) {
      dependents_[std::string(owner["uid"].string_or(""))].insert(node);
      owned = true;
    }
    if (owned && (event.type == Event::Type::added || !same_owners(event))) add(key_of(resource, event.place));
    if (is_deleting(*event.object) &&
        (has_finalizer(*event.object, "foregroundDeletion") || has_finalizer(*event.object, "orphan")))
      add(key_of(resource, event.place));
    if (is_deleting(*event.object)) wake_owners(*event.object);
  }

 protected:
  Task<void> look(Place key) override {
    Node node = node_of(key);
    ObjectPtr object = core().store.find(node.resource, node.place);
    if (!object) co_return;
    if (is_deleting(*object)) {
      if (has_finalizer(*object, "orphan")) co_await orphan(node, *object);
      else if (has_finalizer(*object, "foregroundDeletion")) co_await delete_dependents(key, node, *object);
      co_return;
    }
    co_await delete_if_abandoned(key, node, *object);
  }

 private:
  static bool same_owners(const Event& event) {
    return event.previous &&
           (*event.previous)["metadata"]["ownerReferences"].same_as((*event.object)["metadata"]["ownerReferences"]);
  }

  std::set<Node> dependents_of(const std::string& uid) {
    auto found = dependents_.find(uid);
    return found == dependents_.end() ? std::set<Node>() : found->second;
  }

  void wake_owners(const Json& object) {
    for (const Json& owner : object["metadata"]["ownerReferences"].items())
      if (std::optional<Node> node = owner_node(object, owner)) add(key_of(node->resource, node->place));
  }

  // Where that owner would be; nothing if its kind is not served.
  std::optional<Node> owner_node(const Json& object, const Json& owner) {
    std::string_view version = owner["apiVersion"].string_or("");
    size_t slash = version.find('/');
    std::string_view group = slash == std::string_view::npos ? std::string_view() : version.substr(0, slash);
    const Kind* kind = core().kinds.by_kind(group, "", owner["kind"].string_or(""));
    if (!kind) return std::nullopt;
    return Node{kind->stored_as,
                {kind->namespaced ? std::string(object["metadata"]["namespace"].string_or("")) : std::string(),
                 std::string(owner["name"].string_or(""))}};
  }

  Task<void> delete_if_abandoned(Place key, Node node, Json object) {
    Json::Array solid;
    bool waits = false, dangling = false;
    for (const Json& owner : object["metadata"]["ownerReferences"].items()) {
      std::optional<Node> at = owner_node(object, owner);
      if (!at) {
        // Nobody can tell whether it is there: the real collector waits, too.
        add_after(key, std::chrono::seconds(30));
        co_return;
      }
      ObjectPtr found = core().store.find(at->resource, at->place);
      if (!found || uid_of(*found) != owner["uid"].string_or("")) {
        dangling = true;
      } else if (is_deleting(*found) && has_finalizer(*found, "foregroundDeletion")) {
        waits = true;
      } else {
        solid.push_back(owner);
      }
    }
    if (!solid.empty()) {
      if (!dangling && !waits) co_return;
      (void)co_await actor_.patch(node.resource, node.place,
                                  Json::Object{{"metadata", Json::Object{{"ownerReferences", std::move(solid)},
                                                                         {"uid", object["metadata"]["uid"]}}}});
      co_return;
    }
    if (!dangling && !waits) co_return;
    bool has_dependents = !dependents_of(uid_of(object)).empty();
    std::string_view policy = waits && has_dependents ? "Foreground" : "Background";
    Outcome<Json> removed =
        co_await actor_.remove(node.resource, node.place,
                               Json::Object{{"propagationPolicy", policy},
                                            {"preconditions", Json::Object{{"uid", object["metadata"]["uid"]}}}});
    if (!removed && removed.error().code != 404 && removed.error().code != 409) add_after(key, std::chrono::seconds(1));
  }

  Task<void> delete_dependents(Place key, Node node, Json object) {
    std::string uid = uid_of(object);
    bool blocked = false;
    for (const Node& dependent : dependents_of(uid)) {
      ObjectPtr found = core().store.find(dependent.resource, dependent.place);
      if (!found) continue;
      for (const Json& owner : (*found)["metadata"]["ownerReferences"].items())
        if (owner["uid"].string_or("") == uid && owner["blockOwnerDeletion"].bool_or(false)) blocked = true;
      if (!is_deleting(*found))
        co_await delete_if_abandoned(key_of(dependent.resource, dependent.place), dependent, *found);
    }
    if (blocked) {
      // What was deleted just now may be gone already; its deletion wakes this up.
      bool still = false;
      for (const Node& dependent : dependents_of(uid)) {
        ObjectPtr found = core().store.find(dependent.resource, dependent.place);
        if (!found) continue;
        for (const Json& owner : (*found)["metadata"]["ownerReferences"].items())
          if (owner["uid"].string_or("") == uid && owner["blockOwnerDeletion"].bool_or(false)) still = true;
      }
      if (still) co_return;
    }
    co_await drop_finalizer(key, node, "foregroundDeletion");
  }

  Task<void> orphan(Node node, Json object) {
    std::string uid = uid_of(object);
    for (const Node& dependent : dependents_of(uid)) {
      ObjectPtr found = core().store.find(dependent.resource, dependent.place);
      if (!found) continue;
      Json::Array others;
      for (const Json& owner : (*found)["metadata"]["ownerReferences"].items())
        if (owner["uid"].string_or("") != uid) others.push_back(owner);
      Json list = others.empty() ? Json() : Json(std::move(others));
      (void)co_await actor_.patch(dependent.resource, dependent.place,
                                  Json::Object{{"metadata", Json::Object{{"ownerReferences", std::move(list)}}}});
    }
    co_await drop_finalizer(key_of(node.resource, node.place), node, "orphan");
  }

  Task<void> drop_finalizer(Place key, Node node, std::string finalizer) {
    ObjectPtr now = core().store.find(node.resource, node.place);
    if (!now) co_return;
    Json::Array left;
    for (const Json& one : (*now)["metadata"]["finalizers"].items())
      if (one.string_or("") != finalizer) left.push_back(one);
    Json list = left.empty() ? Json() : Json(std::move(left));
    Outcome<Json> written = co_await actor_.patch(
        node.resource, node.place,
        Json::Object{{"metadata", Json::Object{{"finalizers", std::move(list)},
                                               {"resourceVersion", (*now)["metadata"]["resourceVersion"]}}}});
    if (!written && written.error().code != 404) add_after(key, std::chrono::seconds(1));
  }

  // By the owner's uid.
  std::map<std::string, std::set<Node>> dependents_;
};

}  // namespace

std::unique_ptr<Controller> make_garbage_collector(ApiServer& server, Scope& scope) {
  return std::make_unique<GarbageCollector>(server, scope);
}

}  // namespace fairlead::sandbox

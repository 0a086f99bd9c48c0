// Namespaces on their way out: what they hold is deleted, what remains is told in conditions, and then they go.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sandbox/controllers/workload.h"
#include "sandbox/core/api_services.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

class NamespaceController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource != kNamespaces || event.type == Event::Type::deleted || !is_deleting(*event.object)) return;
    // API servers are given time to notice, so that nothing is created any more.
    bool first = !event.previous || !is_deleting(*event.previous);
    if (first) add_after(event.place, delays().namespace_retry);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr found = core().store.find(kNamespaces, key);
    if (!found || !is_deleting(*found)) co_return;
    std::vector<std::string> failures = co_await delete_content(key.name);
    Remaining remaining = count(key.name);
    std::string discovery;
    for (const ServedElsewhere& other : served_elsewhere(core()))
      if (!other.available)
        discovery += fmt::format("{}{}/{}: stale GroupVersion discovery: {}/{}", discovery.empty() ? "" : ", ",
                                 other.group, other.version, other.group, other.version);
    found = core().store.find(kNamespaces, key);
    if (!found) co_return;
    Json object = *found;
    set_conditions(object, discovery, failures, remaining);
    if (!object.same_as(*found)) {
      Outcome<Json> written = co_await actor_.update(kNamespaces, object, "status");
      if (written) object = *std::move(written);
    }
    if (!remaining.objects.empty() || !failures.empty() || !discovery.empty()) {
      add_after(key, delays().namespace_retry);
      co_return;
    }
    Json::Array finalizers;
    for (const Json& one : object["spec"]["finalizers"].items())
      if (one.string_or("") != "kubernetes") finalizers.push_back(one);
    object.make("spec").make("finalizers") = std::move(finalizers);
    (void)co_await actor_.update(kNamespaces, std::move(object), "finalize");
  }

 private:
  struct Remaining {
    std::map<std::string, size_t> objects;     // "secrets." -> 3
    std::map<std::string, size_t> finalizers;  // "example.com/x" -> 2
  };

  Task<std::vector<std::string>> delete_content(std::string ns) {
    std::vector<std::string> failures;
    std::vector<ResourceId> resources;
    for (const Kind* kind : core().kinds.each_resource())
      if (kind->namespaced && kind->allows("delete") && kind->allows("list")) resources.push_back(kind->stored_as);
    for (const ResourceId& resource : resources) {
      std::vector<Place> places;
      const Store::Objects& all = core().store.all(resource);
      for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.ns == ns; ++at)
        if (!is_deleting(*at->second)) places.push_back(at->first);
      for (const Place& place : places) {
        Outcome<Json> removed =
            co_await actor_.remove(resource, place, Json::Object{{"propagationPolicy", "Background"}});
        if (!removed && removed.error().code != 404 && removed.error().code != 409)
          failures.push_back(removed.error().message);
      }
    }
    co_return failures;
  }

  Remaining count(const std::string& ns) {
    Remaining remaining;
    for (const Kind* kind : core().kinds.each_resource()) {
      if (!kind->namespaced) continue;
      const Store::Objects& all = core().store.all(kind->stored_as);
      for (auto at = all.lower_bound({ns, ""}); at != all.end() && at->first.ns == ns; ++at) {
        ++remaining.objects[fmt::format("{}.{}", kind->resource, kind->group)];
        for (const Json& one : (*at->second)["metadata"]["finalizers"].items())
          ++remaining.finalizers[std::string(one.string_or(""))];
      }
    }
    return remaining;
  }

  void set(Json& object, std::string_view type, bool status, std::string_view reason, std::string message) {
    Json condition = Json::Object{{"type", type},
                                  {"status", status ? "True" : "False"},
                                  {"lastTransitionTime", core().now_text()},
                                  {"reason", reason},
                                  {"message", std::move(message)}};
    set_condition(object, std::move(condition));
  }

  void set_conditions(Json& object, const std::string& discovery, const std::vector<std::string>& failures,
                      const Remaining& remaining) {
    if (discovery.empty())
      set(object, "NamespaceDeletionDiscoveryFailure", false, "ResourcesDiscovered",
          "All resources successfully discovered");
    else
      set(object, "NamespaceDeletionDiscoveryFailure", true, "DiscoveryFailed",
          fmt::format("Discovery failed for some groups, {} failing: unable to retrieve the complete list of server "
                      "APIs: {}",
                      1 + std::count(discovery.begin(), discovery.end(), ','), discovery));
    set(object, "NamespaceDeletionGroupVersionParsingFailure", false, "ParsedGroupVersions",
        "All legacy kube types successfully parsed");
    if (failures.empty())
      set(object, "NamespaceDeletionContentFailure", false, "ContentDeleted",
          "All content successfully deleted, may be waiting on finalization");
    else
      set(object, "NamespaceDeletionContentFailure", true, "ContentDeletionFailed",
          fmt::format("Failed to delete all resource types, {} remaining: {}", failures.size(),
                      fmt::join(failures, ", ")));
    std::vector<std::string> objects, finalizers;
    for (const auto& [what, number] : remaining.objects)
      objects.push_back(fmt::format("{} has {} resource instances", what, number));
    for (const auto& [what, number] : remaining.finalizers)
      finalizers.push_back(fmt::format("{} in {} resource instances", what, number));
    if (objects.empty())
      set(object, "NamespaceContentRemaining", false, "ContentRemoved", "All content successfully removed");
    else
      set(object, "NamespaceContentRemaining", true, "SomeResourcesRemain",
          fmt::format("Some resources are remaining: {}", fmt::join(objects, ", ")));
    if (finalizers.empty())
      set(object, "NamespaceFinalizersRemaining", false, "ContentHasNoFinalizers",
          "All content-preserving finalizers finished");
    else
      set(object, "NamespaceFinalizersRemaining", true, "SomeFinalizersRemain",
          fmt::format("Some content in the namespace has finalizers remaining: {}", fmt::join(finalizers, ", ")));
  }
};

}  // namespace

std::unique_ptr<Controller> make_namespace_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<NamespaceController>(server, scope);
}

}  // namespace fairlead::sandbox

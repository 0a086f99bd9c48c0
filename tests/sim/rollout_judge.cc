#include "rollout_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "rollout_manifests.h"
#include "sandbox/core/core.h"

namespace fairlead::sim {
namespace {

using sandbox::Event;
using sandbox::ObjectPtr;

// As its path in the API, without the version: two versions of a kind are the same object.
std::string target_of(const sandbox::ResourceId& resource, const sandbox::Place& place) {
  std::string path = resource.group + "/";
  if (!place.ns.empty()) path += place.ns + "/";
  return path + resource.resource + "/" + place.name;
}

// "/apis/apps/v1/namespaces/x/deployments/y?…" to "apps/x/deployments/y"
std::string short_target(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::vector<std::string_view> parts;
  while (!target.empty()) {
    target.remove_prefix(1);
    size_t end = std::min(target.find('/'), target.size());
    parts.push_back(target.substr(0, end));
    target.remove_prefix(end);
  }
  std::string path;
  size_t at = 0;
  if (parts.empty()) return path;
  if (parts[0] == "apis") {
    path = parts.size() > 1 ? parts[1] : "";
    at = 3;
  } else {
    at = 2;
  }
  if (parts.size() > at + 2 && parts[at] == "namespaces") ++at;
  for (; at < parts.size(); ++at) path += fmt::format("/{}", parts[at]);
  return path;
}

bool has_condition(const Json& object, std::string_view type) {
  return std::ranges::any_of(object["status"]["conditions"].items(), [&](const Json& condition) {
    return condition["type"].string_or("") == type && condition["status"].string_or("") == "True";
  });
}

bool works(const Json& object) {
  std::string_view kind = object["kind"].string_or("");
  const Json& status = object["status"];
  if (kind == "Deployment")
    return status["availableReplicas"].int_or(0) >= object["spec"]["replicas"].int_or(1) &&
           status["updatedReplicas"].int_or(0) >= object["spec"]["replicas"].int_or(1) &&
           status["observedGeneration"].int_or(0) >= object["metadata"]["generation"].int_or(0);
  if (kind == "Job") return has_condition(object, "Complete");
  if (kind == "CustomResourceDefinition") return has_condition(object, "Established");
  if (kind == "APIService") return has_condition(object, "Available");
  return true;
}

// Everything that was sent is there. The server may have added to it, but not to lists.
bool has(const Json& stored, const Json& sent) {
  if (sent.is_object()) {
    for (const Json::Member& member : sent.members())
      if (!has(stored[member.key], member.value)) return false;
    return true;
  }
  if (!sent.is_array()) return stored == sent;
  const Json::Array& wanted = sent.items();
  if (stored.items().size() != wanted.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!has(stored.items()[i], wanted[i])) return false;
  return true;
}

bool is_marker(const Json& hook) { return hook["name"].string_or("").ends_with(".fairlead.dev"); }

// Those of a run that was killed are there until their time is over.
Json without_markers(Json object) {
  if (object.contains("webhooks")) std::erase_if(*object.make("webhooks").if_array(), is_marker);
  return object;
}

bool is_shadow(const Json& object) { return object["metadata"]["labels"].contains("fairlead.dev/shadow"); }

}  // namespace

Judge::Judge(World& world, RandomBundle bundle)
    : world_(world), bundle_(std::move(bundle)), asking_(bundle_.objects.size()) {
  for (size_t i = 0; i < bundle_.objects.size(); ++i) {
    const BundleObject& object = bundle_.objects[i];
    places_.emplace(Where(object.resource, object.place), i);
    targets_.emplace(target_of(object.resource, object.place), i);
  }
}

std::shared_ptr<Judge> Judge::make(World& world, RandomBundle bundle) {
  std::shared_ptr<Judge> judge(new Judge(world, std::move(bundle)));
  judge->listen_to(world.sandbox.core().store);
  return judge;
}

void Judge::listen_to(sandbox::Store& store) {
  store.listen([weak = weak_from_this()](const sandbox::ResourceId& resource, const Event& event) {
    if (auto alive = weak.lock()) alive->saw(resource, event);
  });
}

void Judge::watch_extension(sandbox::Store& store) {
  extension_ = &store;
  listen_to(store);
}

void Judge::begin() {
  begun_ = true;
  for (size_t i = 0; i < bundle_.objects.size(); ++i)
    if (find(bundle_.objects[i])) there_before_.insert(i);
}

ObjectPtr Judge::find(const BundleObject& object) const {
  bool elsewhere = extension_ && object.resource.group == kExtensionGroup;
  return (elsewhere ? *extension_ : world_.sandbox.core().store).find(object.resource, object.place);
}

std::string Judge::text(const BundleObject& object) {
  return fmt::format("{} {}{}{}", object.value["kind"].string_or(""), object.place.ns,
                     object.place.ns.empty() ? "" : "/", object.place.name);
}

std::optional<size_t> Judge::find(std::string_view target) const {
  auto found = targets_.find(short_target(target));
  return found == targets_.end() ? std::nullopt : std::optional(found->second);
}

void Judge::asked(size_t hook, const sandbox::ResourceId& resource, const sandbox::Place& place) {
  if (auto found = places_.find({resource, place}); found != places_.end())
    asking_[found->second].hooks.push_back(hook);
}

std::string Judge::mark_of(const BundleHook& hook) { return "seen.example.com/" + hook.name; }

void Judge::asked_about_pod(size_t hook, std::string_view uid) { asked_about_pods_[std::string(uid)].push_back(hook); }

void Judge::arrives(std::string_view target) {
  std::optional<size_t> object = find(target);
  if (!object) return;
  // What another request was asked for counts only while both are under way.
  if (asking_[*object].in_flight++ == 0) asking_[*object].hooks.clear();
}

void Judge::leaves(std::string_view target) {
  if (std::optional<size_t> object = find(target)) --asking_[*object].in_flight;
}

void Judge::sends(const std::string& run) {
  if (!senders_.empty() && senders_.back() == run) return;
  if (std::ranges::find(senders_, run) != senders_.end())
    world_.fail(fmt::format("{} writes after {} had taken over from it", run, senders_.back()));
  senders_.push_back(run);
}

void Judge::heard(std::string_view run, std::string_view target) {
  std::optional<size_t> object = find(target);
  if (object && is_let_go(bundle_.objects[*object].place)) return;
  if (object && ++heard_[fmt::format("{} {}", run, *object)] > 1)
    world_.fail(
        fmt::format("{} was sent again by {}, which knew that it was stored", text(bundle_.objects[*object]), run));
}

bool Judge::is_let_go(const sandbox::Place& place) const {
  return let_go_.contains(place.ns.empty() ? place.name : place.ns);
}

void Judge::takes_over(std::string_view run, std::string_view target) {
  if (std::optional<size_t> object = find(target)) heard_.erase(fmt::format("{} {}", run, *object));
}

void Judge::saw(const sandbox::ResourceId& resource, const Event& event) {
  if (!begun_) return;
  bool created = event.type == Event::Type::added;
  if (created && resource == sandbox::ResourceId{"", "pods"}) return saw_pod(*event.object);
  auto found = places_.find({resource, event.place});
  if (found == places_.end()) return;
  if (event.type == Event::Type::deleted && is_let_go(event.place)) return;
  if (event.type == Event::Type::deleted)
    return world_.fail(fmt::format("{} was deleted, and is part of the bundle", text(bundle_.objects[found->second])));
  // What controllers change meets other hooks, or none.
  const Json& generation = (*event.object)["metadata"]["generation"];
  if (!created && !generation.is_null() && generation == (*event.previous)["metadata"]["generation"]) return;
  check_hooks(found->second, created);
  check_needs(found->second, created);
}

// Whoever makes pods talks to an API server of its own choice, which may learn of a webhook later than the one that was
// made to prove it: nobody but a cluster with one API server promises anything.
void Judge::saw_pod(const Json& pod) {
  if (world_.sandbox.api_servers() > 1) return;
  const Json& metadata = pod["metadata"];
  for (size_t i = 0; i < bundle_.objects.size(); ++i) {
    const BundleObject& object = bundle_.objects[i];
    if (object.pod_hooks.empty() || there_before_.contains(i) ||
        object.place.ns != metadata["namespace"].string_or("") ||
        object.place.name != metadata["labels"]["app"].string_or(""))
      continue;
    const std::vector<size_t>& asked = asked_about_pods_[std::string(metadata["uid"].string_or(""))];
    for (size_t hook : object.pod_hooks) {
      const BundleHook& of = bundle_.hooks[hook];
      bool seen =
          of.mutating ? metadata["annotations"].contains(mark_of(of)) : std::ranges::find(asked, hook) != asked.end();
      if (!seen)
        world_.fail(fmt::format("pod {} of {} was stored unseen by webhook {}, which {}",
                                metadata["name"].string_or(""), text(object), of.name,
                                of.ignore ? "ignores failures" : "fails closed"));
    }
  }
}

void Judge::check_hooks(size_t index, bool created) {
  const BundleObject& object = bundle_.objects[index];
  for (size_t hook : object.hooks) {
    const BundleHook& of = bundle_.hooks[hook];
    if (!created && !of.on_update) continue;
    if (std::ranges::find(asking_[index].hooks, hook) == asking_[index].hooks.end())
      world_.fail(fmt::format("{} was {} unseen by webhook {}, which {}", text(object), created ? "stored" : "changed",
                              of.name, of.ignore ? "ignores failures" : "fails closed"));
  }
}

void Judge::check_needs(size_t index, bool created) {
  const BundleObject& object = bundle_.objects[index];
  std::string_view how = created ? "stored" : "changed";
  auto stored = [&](size_t other) { return find(bundle_.objects[other]); };
  for (size_t need : object.needs_stored)
    if (!stored(need))
      world_.fail(fmt::format("{} was {} before {}, which it needs, was there", text(object), how,
                              text(bundle_.objects[need])));
  for (size_t need : object.needs_ready)
    if (ObjectPtr there = stored(need); !there || !works(*there))
      world_.fail(
          fmt::format("{} was {} before {}, which it needs, worked", text(object), how, text(bundle_.objects[need])));
}

void Judge::check_stored() {
  for (const BundleObject& object : bundle_.objects) {
    ObjectPtr there = find(object);
    if (!there) {
      world_.fail(fmt::format("{} is not in the cluster", text(object)));
      continue;
    }
    Json now = without_markers(*there);
    Json sent = object.value;
    // What is stored is in the version of the store.
    if (object.resource.group == "example.com") sent.make("apiVersion") = "example.com/v1";
    if (!has(now, sent))
      world_.fail(fmt::format("{} is not what was sent: {} and not {}", text(object), there->dump(), sent.dump()));
    if (has_leftovers(now))
      world_.fail(fmt::format("{} has fields that left the manifests: {}", text(object), there->dump()));
    if (!works(*there)) world_.fail(fmt::format("{} does not work: {}", text(object), there->dump()));
  }
}

std::string Judge::still_there(const std::vector<BundleObject>& objects) const {
  std::string list;
  for (const BundleObject& object : objects)
    if (find(object)) list += fmt::format("{}{}", list.empty() ? "" : ", ", text(object));
  return list;
}

bool Judge::workloads_work() const {
  return std::ranges::all_of(bundle_.objects, [&](const BundleObject& object) {
    if (object.value["kind"].string_or("") != "Deployment") return true;
    ObjectPtr there = find(object);
    return there && works(*there);
  });
}

bool Judge::has_shadows() const {
  for (std::string_view resource : {"validatingwebhookconfigurations", "mutatingwebhookconfigurations",
                                    "validatingadmissionpolicies", "validatingadmissionpolicybindings"})
    for (const auto& [place, object] :
         world_.sandbox.core().store.all({std::string(kAdmissionGroup), std::string(resource)})) {
      if (is_shadow(*object) && place.name != "0-fairlead-shadow-another-run-1") return true;
      for (const Json& hook : (*object)["webhooks"].items())
        if (is_marker(hook)) return true;
    }
  return false;
}

}  // namespace fairlead::sim

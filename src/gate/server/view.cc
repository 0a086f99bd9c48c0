#include "gate/server/view.h"

#include <fmt/format.h>

#include <charconv>

#include "gate/rules/registration.h"

namespace fairlead::gate {
namespace {

using Type = kube::WatchEvent::Type;

constexpr Duration kTryAgain = std::chrono::seconds(5);

object::Resource resource_of(std::string group, std::string kind, std::string plural, bool namespaced) {
  return {.group = std::move(group),
          .version = "v1",
          .kind = std::move(kind),
          .plural = std::move(plural),
          .namespaced = namespaced};
}

std::string name_in(const Json& object) { return std::string(object["metadata"]["name"].string_or("")); }

Json without_managed_fields(Json object) {
  if (Json::Object* metadata = object.make("metadata").if_object()) metadata->erase("managedFields");
  return object;
}

uint64_t version_of(const Json& object) {
  std::string_view text = object["metadata"]["resourceVersion"].string_or("");
  uint64_t version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

void keep(std::map<std::string, Json>& objects, const kube::WatchEvent& event) {
  if (event.type == Type::deleted) objects.erase(name_in(event.object));
  else objects[name_in(event.object)] = without_managed_fields(event.object);
}

}  // namespace

object::Resource webhook_configurations(bool mutating) {
  constexpr const char* kGroup = "admissionregistration.k8s.io";
  if (mutating) return resource_of(kGroup, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", false);
  return resource_of(kGroup, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", false);
}

View::View(kube::Client& client, std::string own_name)
    : client_(client), own_name_(std::move(own_name)), changed_(client.loop()) {}

Task<void> View::follow(object::Resource resource, kube::WatchOptions options, Take take) {
  std::string name = resource.name_with_group() + (options.ns.empty() ? "" : " in " + options.ns);
  // People wait for what it shows.
  options.longest_pause = kTryAgain;
  kube::Watch watch(client_, resource, options);
  while (true) {
    kube::Outcome<kube::WatchEvent> event = co_await watch.next();
    if (event) {
      troubles_.erase(name);
      take(*event);
      changed_.notify_all();
      continue;
    }
    const Error& error = event.error().error();
    if (error.kind() == ErrorKind::cancelled) co_return;
    troubles_[name] = fmt::format("{} cannot be watched: {}", name, error.message());
    changed_.notify_all();
    if (!co_await sleep_for(client_.loop(), kTryAgain)) co_return;
  }
}

Task<void> View::run() {
  Scope scope(client_.loop(), co_await current_cancel());
  scope_ = &scope;
  for (bool mutating : {false, true})
    scope.spawn(follow(webhook_configurations(mutating), {},
                       [this, mutating](const kube::WatchEvent& event) { take_configuration(event, mutating); }));
  scope.spawn(
      follow(resource_of("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", false), {},
             [this](const kube::WatchEvent& event) {
               if (event.type == Type::synced) kinds_known_ = true;
               else if (event.type == Type::deleted) kinds_.remove(name_in(event.object));
               else kinds_.set(event.object);
             }));
  scope.spawn(follow(resource_of("", "Namespace", "namespaces", false), {.metadata_only = true},
                     [this](const kube::WatchEvent& event) {
                       if (event.type == Type::synced) namespaces_known_ = true;
                       else if (event.type == Type::deleted) namespaces_.erase(name_in(event.object));
                       else namespaces_[name_in(event.object)] = event.object["metadata"]["labels"];
                     }));
  co_await scope.join();
  scope_ = nullptr;
}

void View::take_configuration(const kube::WatchEvent& event, bool mutates) {
  if (event.type == Type::synced) {
    (mutates ? mutating_known_ : validating_known_) = true;
    return;
  }
  std::string name = name_in(event.object);
  std::pair<bool, std::string> place(mutates, name);
  if (event.type == Type::deleted) {
    own_.erase(name);
    configurations_.erase(place);
    versions_.erase(place);
    return rebuild();
  }
  versions_[place] = version_of(event.object);
  if (mutates && is_own(event.object, own_name_)) own_.insert(name);
  std::vector<HookPtr>& hooks = configurations_[place];
  hooks.clear();
  for (Hook& hook : hooks_of(event.object)) hooks.push_back(std::make_shared<const Hook>(std::move(hook)));
  rebuild();
}

void View::rebuild() {
  hooks_.clear();
  for (const auto& [place, hooks] : configurations_)
    for (const HookPtr& hook : hooks) {
      hooks_[hook->id()] = hook;
      if (hook->webhook.service) watch_backing(hook->webhook.service->ns);
    }
}

void View::watch_backing(const std::string& ns) {
  if (!scope_ || backing_.contains(ns) || ns.empty()) return;
  // Stays where it is, however many there are.
  Backing& backing = backing_[ns];
  scope_->spawn(
      follow(resource_of("", "Service", "services", true), {.ns = ns}, [&backing](const kube::WatchEvent& event) {
        if (event.type == Type::synced) backing.services_known = true;
        else keep(backing.services, event);
      }));
  scope_->spawn(follow(resource_of("discovery.k8s.io", "EndpointSlice", "endpointslices", true), {.ns = ns},
                       [&backing](const kube::WatchEvent& event) {
                         if (event.type == Type::synced) backing.slices_known = true;
                         else keep(backing.slices, event);
                       }));
}

bool View::synced() const { return validating_known_ && mutating_known_ && kinds_known_ && namespaces_known_; }

std::string View::trouble() const { return troubles_.empty() ? std::string() : troubles_.begin()->second; }

bool View::shows(const Json& configuration, bool mutates) const {
  auto found = versions_.find(std::pair(mutates, name_in(configuration)));
  return found != versions_.end() && found->second >= version_of(configuration);
}

Json View::ns_object(const std::string& ns) const {
  auto found = namespaces_.find(ns);
  if (found == namespaces_.end()) return {};
  return Json::Object{{"metadata", Json::Object{{"name", ns}, {"labels", found->second}}}};
}

Surroundings View::surroundings(const admission::ServiceReference& service) const {
  Surroundings around;
  auto found = backing_.find(service.ns);
  if (found == backing_.end() || !found->second.services_known || !found->second.slices_known) return around;
  around.known = true;
  auto at = found->second.services.find(service.name);
  if (at != found->second.services.end()) around.service = &at->second;
  for (const auto& [name, slice] : found->second.slices) around.slices.push_back(&slice);
  return around;
}

std::vector<std::string> View::before() const {
  std::vector<std::string> names;
  for (const auto& [place, hooks] : configurations_)
    if (place.first && !hooks.empty() && place.second < kConfigurationPrefix) names.push_back(place.second);
  return names;
}

}  // namespace fairlead::gate

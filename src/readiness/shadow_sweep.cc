#include <array>

#include "readiness/internal/shadow_stage.h"

namespace fairlead::readiness {
namespace {

using kube::FaultKind, kube::Outcome, kube::Reply;

constexpr std::array kGuardKinds = {GuardKind::validating_webhooks, GuardKind::mutating_webhooks,
                                    GuardKind::validating_policies, GuardKind::mutating_policies};

}  // namespace

// Removes the hook by its index in the list. The patch tests first that the hook still has that index.
Task<bool> ShadowStage::remove_leftover(object::Resource resource, std::string configuration, std::string hook) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    Outcome<Reply> now = co_await client_.get(resource, "", configuration);
    if (!now) co_return now.error().is(FaultKind::not_found);
    const Json::Array& hooks = now->value["webhooks"].items();
    size_t place = 0;
    while (place < hooks.size() && hooks[place]["name"].string_or("") != hook) ++place;
    if (place == hooks.size()) co_return true;
    std::string path = fmt::format("/webhooks/{}", place);
    Json patch = Json::Array{Json::Object{{"op", "test"}, {"path", path + "/name"}, {"value", hook}},
                             Json::Object{{"op", "remove"}, {"path", path}}};
    if (co_await client_.patch(resource, "", configuration, kube::PatchType::json, patch)) co_return true;
  }
  co_return false;
}

Task<size_t> ShadowStage::sweep_object(const object::Resource& resource, const Json& object) {
  WallTime now = loop().clock().wall_now();
  auto is_over = [&](const std::optional<Ownership>& owner) {
    if (!owner || owner->run == options_.run) return false;
    return owner->expires < now || (options_.known_dead && options_.known_dead(owner->run));
  };
  std::string name(object["metadata"]["name"].string_or(""));
  if (is_over(shadow_ownership(object)))
    co_return co_await remove_object(resource, name, std::string(object["metadata"]["uid"].string_or(""))) ? 1 : 0;
  size_t removed = 0;
  for (const Json& hook : object["webhooks"].items()) {
    std::string hook_name(hook["name"].string_or(""));
    if (is_over(guest_ownership(hook_name))) removed += co_await remove_leftover(resource, name, hook_name) ? 1 : 0;
  }
  co_return removed;
}

Task<size_t> ShadowStage::sweep(std::span<const Json> listed) {
  size_t removed = 0;
  for (const Json& object : listed) {
    std::string_view version = object["apiVersion"].string_or("");
    for (GuardKind kind : kGuardKinds)
      for (const object::Resource& resource : resources_of(kind, version.substr(version.find('/') + 1)))
        if (resource.kind == object["kind"].string_or("") && resource.api_version() == version)
          removed += co_await sweep_object(resource, object);
  }
  co_return removed;
}

Task<Outcome<std::optional<size_t>>> ShadowStage::sweep_kind(object::Resource resource) {
  kube::ListOptions options;
  bool configurations = configurations_of(resource.kind).has_value();
  // Hooks that were left in configurations of others have no label, so all configurations are listed.
  if (!configurations) options.label_selector = kShadowLabel;
  Outcome<kube::List> list = co_await client_.list(resource, options);
  if (!list) {
    if (list.error().fault()) co_return std::nullopt;
    co_return std::unexpected(std::move(list).error());
  }
  size_t removed = 0;
  for (const Json& object : list->items) removed += co_await sweep_object(resource, object);
  co_return removed;
}

Task<Outcome<size_t>> ShadowStage::sweep() {
  size_t removed = 0;
  for (GuardKind kind : kGuardKinds) {
    // Every version shows the same objects, so one version that is served is enough.
    for (std::string_view version : {"v1", "v1beta1", "v1alpha1"}) {
      bool seen = kind != GuardKind::mutating_policies;
      for (const object::Resource& resource : resources_of(kind, version)) {
        Outcome<std::optional<size_t>> swept = co_await sweep_kind(resource);
        if (!swept) co_return std::unexpected(std::move(swept).error());
        removed += swept->value_or(0);
        seen = seen || swept->has_value();
      }
      if (seen) break;
    }
  }
  co_return removed;
}

}  // namespace fairlead::readiness

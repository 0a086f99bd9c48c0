#include "rollout/sending/internal/conflict_rules.h"

#include <algorithm>
#include <set>

#include "inventory/applyset.h"
#include "inventory/membership.h"

namespace fairlead::rollout {
namespace {

// Returns the manager in a message such as: conflict with "kubectl-client-side-apply" using apps/v1
std::string_view manager_in(std::string_view message) {
  size_t begin = message.find('"');
  if (begin == std::string_view::npos) return {};
  size_t end = message.find('"', begin + 1);
  return end == std::string_view::npos ? std::string_view() : message.substr(begin + 1, end - begin - 1);
}

bool is_of_label(const kube::FaultCause& cause) { return cause.field.ends_with(inventory::kPartOfLabel); }

}  // namespace

Ruling rule_on(const kube::Fault& conflict, const Json& live, const Applier& applier) {
  std::string_view label = inventory::part_of(live);
  const std::string& own_label = applier.successor.label_value;
  bool is_anothers = (!label.empty() && label != own_label) || std::ranges::any_of(conflict.causes, is_of_label);
  // The managers that give way to this run. With --adopt, they include the bundle that the object belongs to.
  std::set<std::string_view> yielding;
  std::optional<inventory::BundleName> owner = inventory::owner_of(live);
  std::string owner_manager = owner ? owner->field_manager() : std::string();
  bool adopts = applier.adopt && !own_label.empty();
  if (is_anothers && adopts) {
    if (owner) yielding.insert(owner_manager);
    for (const kube::FaultCause& cause : conflict.causes)
      if (is_of_label(cause)) yielding.insert(manager_in(cause.message));
  }
  auto yields = [&](const kube::FaultCause& cause) {
    std::string_view manager = manager_in(cause.message);
    return yielding.contains(manager) || inventory::gives_way(manager, live, applier.successor);
  };
  bool may_take = applier.force_conflicts || (!conflict.causes.empty() && std::ranges::all_of(conflict.causes, yields));
  if (!is_anothers) return may_take ? Ruling::take_over : Ruling::refuse;
  if (!adopts) return Ruling::another_bundle;
  return may_take ? Ruling::move_here : Ruling::refuse;
}

}  // namespace fairlead::rollout

#include "inventory/membership.h"

#include <algorithm>

#include "inventory/applyset.h"

namespace fairlead::inventory {
namespace {

bool is_applied_by(const Json& entry, const Identity& identity) {
  return entry["operation"].string_or("") == "Apply" && entry["subresource"].string_or("").empty() &&
         identity.managers.contains(entry["manager"].string_or(""));
}

}  // namespace

Membership membership(const Json& object, const Identity& identity) {
  const Json& metadata = object["metadata"];
  if (identity.label_value.empty() || part_of(object) != identity.label_value) return Membership::unlabelled;
  auto controls = [](const Json& owner) { return owner["controller"].bool_or(false); };
  if (std::ranges::any_of(metadata["ownerReferences"].items(), controls)) return Membership::controlled;
  auto applied = [&](const Json& entry) { return is_applied_by(entry, identity); };
  return std::ranges::any_of(metadata["managedFields"].items(), applied) ? Membership::member : Membership::not_applied;
}

std::string BundleName::text() const { return fmt::format("bundle {}, namespace {}", name, home); }

std::string BundleName::record() const { return fmt::format("{}-{}", kTool, name); }

std::string BundleName::field_manager() const { return fmt::format("{}/{}/{}", kTool, home, name); }

std::string BundleName::label_value() const { return applyset_id(record(), home, "ConfigMap", ""); }

std::optional<BundleName> BundleName::of_manager(std::string_view manager) {
  size_t home = manager.find('/');
  size_t name = home == std::string_view::npos ? home : manager.find('/', home + 1);
  if (name == std::string_view::npos || manager.substr(0, home) != kTool) return std::nullopt;
  return BundleName{.name = std::string(manager.substr(name + 1)),
                    .home = std::string(manager.substr(home + 1, name - home - 1))};
}

std::string_view part_of(const Json& object) { return object["metadata"]["labels"][kPartOfLabel].string_or(""); }

std::optional<BundleName> owner_of(const Json& object) {
  std::string_view label = part_of(object);
  if (label.empty()) return std::nullopt;
  for (const Json& entry : object["metadata"]["managedFields"].items()) {
    std::optional<BundleName> bundle = BundleName::of_manager(entry["manager"].string_or(""));
    if (bundle && bundle->label_value() == label) return bundle;
  }
  return std::nullopt;
}

}  // namespace fairlead::inventory

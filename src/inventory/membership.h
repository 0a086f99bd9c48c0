// Decides whether an object in the cluster belongs to a bundle, and which bundle an object belongs to. Pure.
//
// The label part-of alone proves nothing. Controllers copy labels (the labels of a Service are copied to its
// EndpointSlices), people copy manifests, and some servers ignore label selectors. An object is a member only if the
// bundle itself applied it and no controller owns it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::inventory {

// How this tool is named in records, labels and field managers.
inline constexpr std::string_view kTool = "fairlead";

// What the members of a bundle have in common.
struct Identity {
  // The value of the label part-of.
  std::string label_value;
  // The field managers under which runs of this bundle apply objects.
  std::set<std::string, std::less<>> managers;
};

enum class Membership {
  member,
  unlabelled,   // it does not have the bundle's label
  not_applied,  // it has the label, but the bundle did not apply it: the label was copied
  controlled,   // it has the label, but a controller owns it
};
// `object` may be whole or have only its metadata.
Membership membership(const Json& object, const Identity& identity);

// The name and the home namespace of a bundle.
struct BundleName {
  std::string name;
  std::string home;

  // For example "bundle shop, namespace default".
  std::string text() const;
  // The name of the bundle's inventory ConfigMap.
  std::string record() const;
  // For example "fairlead/default/shop".
  std::string field_manager() const;
  std::string label_value() const;
  // Parses a field manager. Returns nothing if it is not the manager of a bundle.
  static std::optional<BundleName> of_manager(std::string_view manager);
  bool operator==(const BundleName&) const = default;
};

// Returns the value of the label part-of, or an empty text if the object has none.
std::string_view part_of(const Json& object);

// Returns the bundle that the label names, if one of the object's field managers is the manager of that bundle. Returns
// nothing if there is no label, or if the bundle applied the object under a field manager of another name.
std::optional<BundleName> owner_of(const Json& object);

}  // namespace fairlead::inventory

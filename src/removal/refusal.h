// Decides which objects must not be deleted, and why. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "inventory/inventory.h"
#include "object/key.h"

namespace fairlead::removal {

// True if the object has the annotation fairlead.dev/delete: protected.
bool is_protected(const Json& object);

// The owners of objects, by the value of the objects' label part-of.
using Owners = std::map<std::string, inventory::Owner, std::less<>>;

// Returns why the target must not be deleted; nothing if it may be. `bundle` is set if the members of that bundle are
// deleted. If it is not set, objects that belong to a bundle and objects in kube-system stay unless `force` is set.
// `owners` provides the names for the reason.
std::optional<Error> refusal_of(const object::Key& key, const Json& live,
                                const std::optional<inventory::Identity>& bundle, bool force, const Owners& owners);

}  // namespace fairlead::removal

// What is not removed, and why not. Pure.
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

// Has the annotation fairlead.dev/delete: protected.
bool is_protected(const Json& object);

// Who objects belong to, by the value of their label part-of.
using Owners = std::map<std::string, inventory::Owner, std::less<>>;

// Why that target stays; nothing if it may be removed. `bundle`: what is removed are the members of that bundle.
// Without one, objects that belong to a bundle and objects in kube-system stay unless `force` is set. `owners` has
// names for the reason.
std::optional<Error> refusal_of(const object::Key& key, const Json& live,
                                const std::optional<inventory::Identity>& bundle, bool force, const Owners& owners);

}  // namespace fairlead::removal

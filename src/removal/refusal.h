// What is not removed, and why not. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "object/key.h"

namespace fairlead::removal {

// Has the annotation fairlead.dev/delete: protected.
bool is_protected(const Json& object);

// `part_of`: the label of the bundle that is being removed, or empty. `force`: what belongs to others goes as well.
std::optional<Error> refusal_of(const object::Key& key, const Json& live, std::string_view part_of, bool force);

}  // namespace fairlead::removal

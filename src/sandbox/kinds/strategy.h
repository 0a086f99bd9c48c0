// What the server itself does to an object of a kind before it is stored: what it fills in, keeps, counts and refuses.
#pragma once

#include <string_view>
#include <vector>

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

// Takes out what this request may not write: the status of a kind that has one of its own, everything else when it is
// the status that is written. `live` is null for a new object.
void reset_fields(const Kind& kind, std::string_view subresource, const Json* live, Json& object);

void prepare_for_create(Core& core, const Kind& kind, Json& object);
void prepare_for_update(Core& core, const Kind& kind, std::string_view subresource, const Json& live, Json& object);

// What is wrong with it; `live` is null for a new object.
std::vector<Cause> validate(const Core& core, const Kind& kind, std::string_view subresource, const Json* live,
                            const Json& object);
// What the request is to be warned of, once the object has been found to be valid.
std::vector<std::string> warnings_of(const Kind& kind, const Json& object);

// A PUT may create it; a PUT may leave out the resourceVersion.
bool creates_on_update(const Kind& kind);
bool updates_unconditionally(const Kind& kind);
// DELETE answers with the object, not with a Status.
bool returns_deleted(const Kind& kind);
bool has_status(const Kind& kind);

}  // namespace fairlead::sandbox

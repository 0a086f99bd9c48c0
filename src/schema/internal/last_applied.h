// The annotation in which `kubectl apply` on the client's side keeps what it applied, where server-side apply heeds it:
// an object goes over from the one to the other without conflicts. Only for the manager "kubectl", as on the real
// server.
#pragma once

#include <string_view>

#include "fields/field_set.h"
#include "schema/types/type.h"

namespace fairlead::schema {

inline constexpr std::string_view kLastAppliedHeeder = "kubectl";

// What the annotation has and the live object still has in the same way; nothing if there is no annotation that fits.
fields::FieldSet last_applied_fields(const Schema& schema, std::string_view api_version, const Json& live);

// The annotation brought up to date with what was applied, if there is one.
void renew_last_applied(const Json& configuration, Json& object);

}  // namespace fairlead::schema

// Built-in objects as they are sent, before anything else is done with them: what the server cannot read at all, and
// what it does not know.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/refusal.h"
#include "schema/type.h"

namespace fairlead::schema {

// Fields that the types do not have, "spec.containers[0].x", in the order in which they stand.
std::vector<std::string> unknown_fields(const Schema& schema, const Json& object);

// The first value that is of the wrong type, in the server's words: "json: cannot unmarshal string into Go struct field
// DeploymentSpec.spec.replicas of type int32". Nothing if there is none.
std::optional<std::string> unreadable(const Schema& schema, const Json& object);

// 400, for either: `Deployment in version "v1" cannot be handled as a Deployment: …`
Refusal cannot_be_handled(std::string_view kind, std::string_view version, std::string_view why);
// `strict decoding error: unknown field "spec.x", …`
std::string strict_error(const std::vector<std::string>& unknown);

}  // namespace fairlead::schema

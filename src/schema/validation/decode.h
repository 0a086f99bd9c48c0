// Decodes objects of built-in kinds as the API server's JSON decoder does, before anything else is done with them.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/types/refusal.h"
#include "schema/types/type.h"

namespace fairlead::schema {

struct Decoding {
  // The first value that has the wrong type, in the server's words: "json: cannot unmarshal string into Go struct field
  // DeploymentSpec.spec.replicas of type int32". Empty if the object can be decoded.
  std::optional<std::string> error;
  // The fields that the types do not have, "spec.containers[0].x", in the order of the text.
  std::vector<std::string> unknown;
};
Decoding decode(const Schema& schema, const Json& object);

// `unknown field "spec.x"`
std::string unknown_field(std::string_view path);
// `strict decoding error: unknown field "spec.x", duplicate field "spec.y"`
std::string strict_error(const std::vector<std::string>& problems);
// A 400: `Deployment in version "v1" cannot be handled as a Deployment: …`
Refusal cannot_be_handled(std::string_view kind, std::string_view version, std::string_view why);

}  // namespace fairlead::schema

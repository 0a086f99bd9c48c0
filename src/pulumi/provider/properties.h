// Properties of Pulumi as attributes of the core, and back. Pure.
#pragma once

#include <string_view>

#include "base/json.h"
#include "pulumi/provider/facade.h"
#include "terraform/value/diagnostic.h"
#include "terraform/value/value.h"

namespace fairlead::pulumi {

// What the core keeps beside the state, in a property that Pulumi does not show.
inline constexpr std::string_view kBookkeeping = "__fairlead";

struct ReadProperties {
  // Every attribute of the schema; null where nothing is set.
  terraform::Value value;
  // About properties that do not exist or have values of the wrong kind. Paths have the names of properties.
  terraform::Diagnostics problems;
};
// Reads inputs, or the outputs of a resource that exists. Secrets are read as what they are.
ReadProperties read_properties(const Json& properties, const Facade& facade);

// Returns the outputs for a state; unknown values stay unknown. What is the same as in `given`, the inputs, is taken
// from there, with its marks. If the manifest has a secret in it, what is computed from it is a secret.
Json write_properties(const terraform::Value& state, const Json& given, const Facade& facade);

// Returns the inputs with a mark around each value that the schema calls sensitive.
Json with_secrets_marked(Json inputs, const Facade& facade);

// The value of an attribute as Pulumi has it.
Json json_of(const terraform::Value& value, const terraform::Type& type);

// What the core keeps: the attribute `id`, and its private state.
Json bookkeeping(std::string_view id, const Json& private_state);

}  // namespace fairlead::pulumi

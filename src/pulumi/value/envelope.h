// Marks in the values that Pulumi sends: secrets, unknown values, outputs, references to resources, at any depth.
//
// Such a mark is an object with a member whose name is a signature; an unknown value can be a text, too. Pure.
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"

namespace fairlead::pulumi {

// The text that stands for a value which is not known before the deployment. There are others, one for each type.
inline constexpr std::string_view kUnknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

bool is_unknown(const Json& value);
Json secret(Json value);
bool is_secret(const Json& value);

// Whether anything inside is unknown, or a secret.
bool has_unknowns(const Json& value);
bool has_secrets(const Json& value);

// Returns the value without its marks: the values of secrets and outputs, the ids of resources. What is unknown is
// kUnknown. Fails for assets and archives, which are files.
Result<Json> unwrapped(const Json& value);

// Calls with every text and number that is a secret or inside of one.
void each_secret(const Json& value, const std::function<void(std::string_view)>& call);

}  // namespace fairlead::pulumi

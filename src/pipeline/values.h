// Values of configuration files in a pipeline: ${kof.mothership.install_retries:3}. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::pipeline {

// Puts the members of `other` into `values`. Objects are merged; anything else is replaced.
void merge(Json& values, const Json& other);

// Puts what --set says into `values` (config/assignments.h).
Result<void> set_values(Json& values, std::string_view text);

// Replaces every ${PATH} in the text by the value at that path, and ${PATH:DEFAULT} by the default if there is none,
// or an empty string. A text that is nothing but one such expression becomes the value itself, whatever its type; with
// an empty default it becomes null. $${ stands for ${. Fails if a value is missing or cannot be part of a text.
Result<Json> substitute(std::string_view text, const Json& values);

}  // namespace fairlead::pipeline

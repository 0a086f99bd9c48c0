// The JSON of Terraform's state files.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::terraform {

// A number with more digits than Json keeps becomes text, which Value::from_state_json takes for a number as well.
Result<Json> parse_state_json(std::string_view text);

}  // namespace fairlead::terraform

// Reads one step of a pipeline.
#pragma once

#include <optional>

#include "config/fields.h"
#include "pipeline/pipeline.h"

namespace fairlead::pipeline {

// Reads the step at `path`. What is wrong with it goes to `fields`.
Step read_step(config::Fields& fields, const Json& value, const config::Path& path);

// Reads the names of events: a mapping whose keys are those of `known`.
EventNames read_event_names(config::Fields& fields, const Json& value, const config::Path& path,
                            const std::vector<Action>& known);

// Returns a digest of the value, as 16 hexadecimal digits.
std::string hash_of(const Json& value);

}  // namespace fairlead::pipeline

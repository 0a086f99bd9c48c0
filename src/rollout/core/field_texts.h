// Explains in plain words what an API server says about single fields of an object.
#pragma once

#include <string>
#include <vector>

#include "rollout/core/run.h"

namespace fairlead::rollout {

// Returns the owner in the message of a conflict: "kubectl", or "kubectl (scale)" if it used a subresource.
std::string owner_in(std::string_view message);
// Returns one line for each manager that owns a field which the apply wanted to set: ".spec.replicas is owned by
// kubectl (scale)".
std::vector<std::string> owner_lines(const kube::Fault& conflict);
// Says what to do about the conflict: which flag to use, or which fields to leave out.
std::string conflict_advice(const kube::Fault& conflict);

struct UnknownFields {
  // One line per field: "unknown field spec.replica; did you mean spec.replicas?"
  std::vector<std::string> lines;
  // The file:line of the first field.
  std::string where;
  std::string advice;
};
// Returns the fields of an object that its kind does not have. Returns none if the fault is about something else, or if
// the schema of the kind is not known.
UnknownFields unknown_fields(const Run& run, NodeId node, const kube::Fault& fault);

}  // namespace fairlead::rollout

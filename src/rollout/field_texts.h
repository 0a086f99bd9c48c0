// What an API server says about single fields of an object, in plain words.
#pragma once

#include <string>
#include <vector>

#include "rollout/run.h"

namespace fairlead::rollout {

// ".spec.replicas is owned by kubectl (scale)": one line for each manager that owns a field which was to be set.
std::vector<std::string> owner_lines(const kube::Fault& conflict);
// What to do about it: a flag, or what to leave out.
std::string conflict_advice(const kube::Fault& conflict);

struct UnknownFields {
  // "there is no field spec.replica; did you mean spec.replicas?": one line for each.
  std::vector<std::string> lines;
  // Of the first one: file:line.
  std::string where;
  std::string advice;
};
// The fields of an object that its kind does not have; none if the answer is about something else, or where nothing
// more is known than the server says.
UnknownFields unknown_fields(const Run& run, uint32_t node, const kube::Fault& fault);

}  // namespace fairlead::rollout

// Objects that are not in the bundle, and that a webhook of the bundle would see all the same: what controllers make,
// and the bundle's own record.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph_builder.h"

namespace fairlead::graph {

struct ImplicitObject {
  std::string_view group;
  std::string_view kind;
  std::string_view plural;
  std::string_view name;
};

// For a guard with a webhook. What cannot be told counts as seen.
bool sees(const GraphBuilder& builder, const Guard& guard, const ImplicitObject& what, const std::string& ns);
// The ConfigMap of Options::inventory.
bool sees_record(const GraphBuilder& builder, const Guard& guard);

}  // namespace fairlead::graph

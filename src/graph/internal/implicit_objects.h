// Objects that are not in the bundle but that a webhook of the bundle would see: objects that controllers create, and
// the bundle's inventory ConfigMap.
#pragma once

#include <string>
#include <string_view>

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {

struct ImplicitObject {
  std::string_view group;
  std::string_view kind;
  std::string_view plural;
  std::string_view name;  // empty if it is not known
};

// True if the guard would see the object in namespace `ns`, or if that cannot be known. Requires a guard with a
// webhook.
bool sees(const GraphBuilder& builder, const Guard& guard, const ImplicitObject& what, const std::string& ns);
// The same in a namespace of the cluster itself, such as kube-system, of which only the name is known.
bool sees_in_system(const Guard& guard, const ImplicitObject& what, const std::string& ns);
// The same for the ConfigMap of Options::inventory. Returns false if there is none.
bool sees_record(const GraphBuilder& builder, const Guard& guard);

}  // namespace fairlead::graph

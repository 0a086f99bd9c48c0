// The pods that an object makes: where its pod template is, and what that names.
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"
#include "graph/kinds.h"

namespace fairlead::graph {

// The template (metadata and spec) that pods are made from, or the Pod itself; null where the family has none.
const Json* find_pod(Family family, const Json& object);

struct Reference {
  std::string_view group;
  std::string_view kind;
  std::string_view name;
  // "volume data", "env PASSWORD of container web"
  std::string_view what;
  std::string_view detail;
  std::string_view container;

  std::string reason() const;
};
// What a pod cannot start without; what is optional is left out, and so is the ServiceAccount "default".
void visit_references(const Json& pod_spec, const std::function<void(const Reference&)>& visit);
// What its containers are told on their command lines and in their environment: whole arguments, and what comes behind
// their first `=`.
void visit_words(const Json& pod_spec, const std::function<void(std::string_view)>& visit);

}  // namespace fairlead::graph

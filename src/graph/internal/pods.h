// Finds the pod template of an object, and the objects that the template names.
#pragma once

#include <functional>
#include <string_view>

#include "base/json.h"
#include "graph/internal/kinds.h"

namespace fairlead::graph {

// Returns the pod template (metadata and spec), or the object itself if it is a Pod. Returns null if there is none.
const Json* find_pod(Family family, const Json& object);

// An object that a pod spec names.
struct Reference {
  std::string_view group;
  std::string_view kind;
  std::string_view name;
  // The parts of the reason, for example "volume data" or "env PASSWORD of container web".
  std::string_view what;
  std::string_view detail;
  std::string_view container;

  std::string reason() const;
};
// Calls `visit` for every object that a pod cannot start without. Skips optional references and the ServiceAccount
// "default".
void visit_references(const Json& pod_spec, const std::function<void(const Reference&)>& visit);
// Calls `visit` for every argument of the containers' command lines, for the part of an argument after its first `=`,
// and for every value of an environment variable.
void visit_words(const Json& pod_spec, const std::function<void(std::string_view)>& visit);

}  // namespace fairlead::graph

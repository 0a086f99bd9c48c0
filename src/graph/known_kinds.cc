#include "graph/known_kinds.h"

#include "graph/internal/kinds.h"

namespace fairlead::graph {

bool is_kind_of_kubernetes(std::string_view group, std::string_view kind) {
  return find_built_in(group, kind) != nullptr;
}

}  // namespace fairlead::graph

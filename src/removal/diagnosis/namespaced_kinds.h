// Selects the kinds that namespaces usually contain, so that their contents can be listed without asking for every
// kind.
#pragma once

#include <vector>

#include "kube/discovery.h"
#include "object/resource.h"

namespace fairlead::removal {

struct NamespacedKinds {
  std::vector<object::Resource> kinds;
  // There are more custom kinds than were selected.
  bool incomplete = false;
};

NamespacedKinds namespaced_kinds(const kube::Discovered& known);
// Returns all namespaced kinds that can be listed and deleted.
std::vector<object::Resource> all_namespaced_kinds(const kube::Discovered& known);
// Returns the kinds that controllers create beside workloads: accounts, their rights, policies.
std::vector<object::Resource> supporting_kinds(const kube::Discovered& known);

}  // namespace fairlead::removal

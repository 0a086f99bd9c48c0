// The kinds of which a namespace usually has objects, to look for what is in it without asking about every kind there
// is.
#pragma once

#include <vector>

#include "kube/discovery.h"
#include "object/resource.h"

namespace fairlead::removal {

struct NamespacedKinds {
  std::vector<object::Resource> kinds;
  // There are more custom kinds than are looked at.
  bool incomplete = false;
};

NamespacedKinds namespaced_kinds(const kube::Discovered& known);
// All kinds of objects in namespaces that can be listed and deleted.
std::vector<object::Resource> all_namespaced_kinds(const kube::Discovered& known);
// Those that controllers make beside: accounts, their rights, policies.
std::vector<object::Resource> supporting_kinds(const kube::Discovered& known);

}  // namespace fairlead::removal

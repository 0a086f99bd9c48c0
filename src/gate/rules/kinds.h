// The kinds of a cluster: those that CRDs define, and those of Kubernetes itself that the gate cares for.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/attributes.h"
#include "base/json.h"

namespace fairlead::gate {

// What the CRDs of a cluster define. Keeps a few words per CRD, and no schemas.
class CustomKinds {
 public:
  void set(const Json& definition);
  void remove(std::string_view definition_name) { kinds_.erase(std::string(definition_name)); }

  std::set<std::string> groups() const;
  bool contains(std::string_view group, std::string_view resource) const { return find(group, resource) != nullptr; }
  // The other versions in which the same objects are served.
  std::vector<admission::Equivalent> equivalents(const admission::GroupVersionResource& resource) const;
  // True if a webhook converts the objects between versions, so that nobody else knows them in another version.
  bool converts(std::string_view group, std::string_view resource) const;

 private:
  struct Kind {
    std::string group;
    std::string kind;
    std::string plural;
    std::vector<std::string> versions;
    bool converts = false;
  };
  const Kind* find(std::string_view group, std::string_view resource) const;

  // By the name of the CRD.
  std::map<std::string, Kind, std::less<>> kinds_;
};

// True for the groups of CRDs and of aggregated APIs, which belong to a domain; also if the gate has not seen the CRD
// yet. Those below k8s.io are few and need an approval, and count as Kubernetes's own.
bool is_group_of_a_domain(std::string_view group);

// One group of Kubernetes, and those of its resources that the gate may be asked about. Left out is what nobody may
// wait for (Leases, Nodes, Events), and what controllers write all the time (EndpointSlices, ControllerRevisions).
struct BuiltInGroup {
  std::string_view group;
  std::vector<std::string_view> resources;
};
std::span<const BuiltInGroup> built_in_groups();

}  // namespace fairlead::gate

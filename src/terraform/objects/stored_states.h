// The objects and bundles that are in Terraform's state, as far as this process was told.
//
// Terraform plans a tainted resource as a create, without its state. But in the same process it has had that state
// upgraded before. So a create of something that the state has is the replacement of a tainted resource, or a second
// resource for the same thing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "terraform/cluster/clusters.h"

namespace fairlead::terraform {

class StoredStates {
 public:
  // `what` tells one object or bundle of a cluster from all others.
  void note(std::string_view id, std::string what, Value cluster, bool is_protected);
  bool has(std::string_view id) const { return ids_.contains(id); }
  // Whether a state says that it must not be deleted. `connection` is that of the cluster where it is.
  Task<bool> protect(Clusters& clusters, Connection* connection, std::string what) const;

 private:
  struct Stored {
    std::string what;
    Value cluster;
    bool is_protected = false;
  };
  std::set<std::string, std::less<>> ids_;
  // By id and cluster: bundles in different clusters may have the same id.
  std::map<std::string, Stored> states_;
};

}  // namespace fairlead::terraform

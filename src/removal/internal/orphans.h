// Deletes objects that the garbage collector would leave behind for good.
//
// The garbage collector learns of new kinds every 30 seconds. If a CRD is deleted with its instances before that, the
// collector cannot tell whether the instances are deleted, and the objects that they owned stay: a Secret, a Deployment
// that keeps running. These objects are deleted here, by the collector's own rule: all of their owners are deleted.
#pragma once

#include <map>
#include <set>
#include <string>

#include "removal/internal/tracking.h"
#include "removal/run.h"

namespace fairlead::removal {

class Orphans {
 public:
  Orphans(kube::Client& client, const kube::Discovery& discovery, Run& run)
      : client_(client), discovery_(discovery), run_(run) {}

  // Notes the instances of such new CRDs, since they may own objects. Call before anything is deleted.
  void note_owners(const Tracker& tracker);
  // Deletes the objects that only the noted instances owned. Call after everything was deleted.
  Task<void> remove();

 private:
  struct Owner {
    object::Key key;
    NodeId definition;
  };

  bool is_new(NodeId definition) const;
  bool is_gone(NodeId target) const;
  // Returns the namespaces in which they may own objects; an empty name stands for all namespaces.
  std::set<std::string> places() const;
  // Returns one of the object's owners if all of them are deleted; otherwise null.
  const Owner* owner_of(const Json& object) const;
  Task<void> look_at(object::Resource resource, std::string ns);
  Task<void> remove(const object::Resource& resource, const Json& object, const Owner& owner);

  kube::Client& client_;
  const kube::Discovery& discovery_;
  Run& run_;
  std::map<std::string, Owner, std::less<>> owners_;  // by uid
};

}  // namespace fairlead::removal

// Finds out who made the objects in a namespace, or of a CRD's kind, from the view of those who delete it. Pure.
//
// The deletion of a Namespace or CRD deletes everything in it. Objects may be deleted with it if Kubernetes itself made
// them, or if controllers and programs made them for objects that are deleted anyway. Objects that others made must not
// be (docs/removal.md has the whole list).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "inventory/membership.h"
#include "object/key.h"

namespace fairlead::removal {

enum class MadeBy {
  ours,     // the bundle, or Kubernetes, a controller or a program of the bundle for it
  others,   // somebody else
  bundles,  // another bundle: the object belongs to it, or is its record
};

// True for objects that every namespace has, or that are only kept for a while: the default account, root certificates,
// events, leases.
bool is_in_every_namespace(const object::Key& key);

class Provenance {
 public:
  // `bundle` is the bundle whose members are deleted, if it is a bundle. `is_cluster_wide` returns true if a kind has
  // no namespaces, or is not known.
  Provenance(const std::optional<inventory::Identity>& bundle,
             std::function<bool(const std::string& group, const std::string& kind)> is_cluster_wide)
      : bundle_(bundle), is_cluster_wide_(std::move(is_cluster_wide)) {}

  // Adds an object that is deleted.
  void add(const object::Key& key, std::string_view uid);

  // Returns who made an object that was not added.
  MadeBy of(const object::Key& key, const Json& object) const;

 private:
  // True if the object is deleted with its owner, or if its owner is in a namespace and is judged in its place.
  bool is_owned(const Json& metadata) const;
  bool is_claim_of_ours(const object::Key& key) const;
  // True if only programs of the bundle or of Kubernetes itself wrote to the object.
  bool is_written_by_programs(const Json& metadata) const;
  bool is_program(std::string_view manager) const;

  const std::optional<inventory::Identity>& bundle_;
  std::function<bool(const std::string& group, const std::string& kind)> is_cluster_wide_;
  std::set<std::string, std::less<>> uids_;
  // Namespace and name of each StatefulSet.
  std::set<std::pair<std::string, std::string>> stateful_;
  std::set<std::string> workloads_;
};

}  // namespace fairlead::removal

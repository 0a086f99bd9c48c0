// Who made what is in a namespace, or is of a CRD's kind, seen from those who remove it. Pure.
//
// A namespace or CRD takes along everything in it. What was made by Kubernetes itself, or by controllers and programs
// for objects that go anyway, may go with it. What others made may not (docs/removal.md has the whole list).
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

// Every namespace has it, or it is kept for a while only: the default account, root certificates, events, leases.
bool is_in_every_namespace(const object::Key& key);

class Provenance {
 public:
  // `bundle`: whose members are removed, if it is one that is removed. `is_cluster_wide`: whether a kind has no
  // namespaces; true for kinds that are not known.
  Provenance(const std::optional<inventory::Identity>& bundle,
             std::function<bool(const std::string& group, const std::string& kind)> is_cluster_wide)
      : bundle_(bundle), is_cluster_wide_(std::move(is_cluster_wide)) {}

  // An object that goes.
  void add(const object::Key& key, std::string_view uid);

  // Of an object that is not among those.
  MadeBy of(const object::Key& key, const Json& object) const;

 private:
  // It goes with its owner, or its owner counts in its place.
  bool is_owned(const Json& metadata) const;
  bool is_claim_of_ours(const object::Key& key) const;
  // Everything that wrote to it is a program of the bundle or of Kubernetes itself.
  bool is_written_by_programs(const Json& metadata) const;
  bool is_program(std::string_view manager) const;

  const std::optional<inventory::Identity>& bundle_;
  std::function<bool(const std::string& group, const std::string& kind)> is_cluster_wide_;
  std::set<std::string, std::less<>> uids_;
  // Namespace and name of StatefulSets.
  std::set<std::pair<std::string, std::string>> stateful_;
  std::set<std::string> workloads_;
};

}  // namespace fairlead::removal

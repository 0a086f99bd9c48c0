// Finds the kind and the namespace of each object.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kube/discovered.h"
#include "manifest/manifest.h"
#include "rollout/core/options.h"

namespace fairlead::rollout {

// The kinds that the cluster serves, and those that the bundle itself defines.
class Kinds {
 public:
  Kinds(const kube::Discovered& discovered, const manifest::Bundle& bundle);

  // Returns null if neither the cluster nor the bundle has the kind.
  const object::Resource* find(std::string_view group, std::string_view version, std::string_view kind) const;
  const object::Resource* of(const object::Object& object) const {
    return find(object.group(), object.version(), object.kind());
  }
  // Adds a kind that the cluster has begun to serve.
  void learn(object::Resource resource) { defined_.push_back(std::move(resource)); }

 private:
  const kube::Discovered& discovered_;
  // A deque, so that pointers to its elements stay valid.
  std::deque<object::Resource> defined_;
};

// Puts every object whose kind is known into its namespace. Returns an error for each object that names another
// namespace than the user chose.
manifest::Errors place(manifest::Bundle& bundle, const Kinds& kinds, const Options& options);
// Does the same for one object whose kind became known later.
std::optional<Error> place(object::Object& object, const object::Resource& resource, const Options& options);

// Returns the CRD of the key's kind: that of the bundle, or else that of the cluster. Returns null if there is none.
const Json* find_definition(const manifest::Bundle& bundle, const std::vector<Json>& definitions,
                            const object::Key& key);

// Removes caBundles that are placeholders and not certificates. Whoever injects the certificates owns these fields.
void leave_to_injectors(Json& object);

}  // namespace fairlead::rollout

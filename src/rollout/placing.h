// Which kind of the cluster each object is of, and in which namespace it goes.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "kube/discovered.h"
#include "manifest/manifest.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// The kinds of a bundle: those that the cluster serves, and those that the bundle itself defines.
class Kinds {
 public:
  Kinds(const kube::Discovered& discovered, const manifest::Bundle& bundle);

  // Null where neither knows it.
  const object::Resource* find(std::string_view group, std::string_view version, std::string_view kind) const;
  const object::Resource* of(const object::Object& object) const {
    return find(object.group(), object.version(), object.kind());
  }
  // One that the cluster has come to serve.
  void learn(object::Resource resource) { defined_.push_back(std::move(resource)); }

 private:
  const kube::Discovered& discovered_;
  // A deque: who has found one keeps it.
  std::deque<object::Resource> defined_;
};

// Puts every object into its namespace, and finds what contradicts itself.
manifest::Errors place(manifest::Bundle& bundle, const Kinds& kinds, const Options& options);
// The same for one object, whose kind became known later than the others'.
std::optional<Error> place(object::Object& object, const object::Resource& resource, const Options& options);

// What is not to be sent though it was written: caBundles that are none. Whoever fills them in owns them.
void leave_to_injectors(Json& object);

}  // namespace fairlead::rollout

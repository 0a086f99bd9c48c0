// Everything that happened to the objects of a resource, as the store of the sandbox has it: the truth that clients are
// measured by.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "sandbox/core/store.h"
#include "sim/world.h"

namespace fairlead::sim {

class StoreLog {
 public:
  StoreLog(World& world, sandbox::ResourceId resource);

  // In the order of their versions.
  const std::vector<sandbox::Event>& events() const { return *events_; }
  // The event of that version; null if there is none.
  const sandbox::Event* at(uint64_t version) const;
  // The objects as they were at that version.
  sandbox::Store::Objects state_at(uint64_t version) const;
  sandbox::Store::Objects now() const { return state_at(UINT64_MAX); }

 private:
  // Shared with the store, which goes on to tell when this is gone.
  std::shared_ptr<std::vector<sandbox::Event>> events_;
};

// 0 where there is no version, or one that is no number.
uint64_t version_of(const Json& object);

}  // namespace fairlead::sim

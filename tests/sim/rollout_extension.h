// The API server that a random bundle brings along, behind its APIService: a second sandbox that serves one kind.
#pragma once

#include <memory>

#include "sandbox/core/store.h"
#include "sim/world.h"

namespace fairlead::sim {

class Extension : public std::enable_shared_from_this<Extension> {
 public:
  // Goes away and comes back, as the seed says. stop() must be awaited before it is destroyed.
  static Task<std::shared_ptr<Extension>> start(World& world);
  Task<void> stop();

  sandbox::Store& store();

 private:
  explicit Extension(World& world);
  Task<void> define_kind();
  // Namespaces are those of the cluster.
  void follow_namespaces();
  void serve(bool there);

  World& world_;
  sandbox::Sandbox sandbox_;
};

}  // namespace fairlead::sim

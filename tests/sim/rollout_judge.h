// Watches what a rollout does to a cluster, from the store and from the webhooks themselves, and says what is wrong.
// It never looks at what the engine says of itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rollout_bundle.h"
#include "sim/world.h"

namespace fairlead::sim {

class Judge : public std::enable_shared_from_this<Judge> {
 public:
  static std::shared_ptr<Judge> make(World& world, RandomBundle bundle);

  const RandomBundle& bundle() const { return bundle_; }

  // What happens before is none of the engine's doing.
  void begin() { begun_ = true; }
  // A webhook was asked about something that was no dry run.
  void asked(size_t hook, const sandbox::ResourceId& resource, const sandbox::Place& place);
  // An object is written: by a request that arrives at an API server, and until it is answered there.
  void arrives(std::string_view target);
  void leaves(std::string_view target);
  // The engine has heard in full that what it sent is stored.
  void heard(std::string_view run, std::string_view target);

  // At the end: the cluster has exactly the bundle.
  void check_stored();
  // All Deployments of the bundle are there and work.
  bool workloads_work() const;
  // A shadow is left that is not that of a run which is at work.
  bool has_shadows() const;

 private:
  using Where = std::pair<sandbox::ResourceId, sandbox::Place>;
  struct Asking {
    size_t in_flight = 0;
    std::vector<size_t> hooks;  // those that were asked since the request arrived
  };

  Judge(World& world, RandomBundle bundle);
  void saw(const sandbox::ResourceId& resource, const sandbox::Event& event);
  void check_hooks(size_t object, bool created);
  void check_needs(size_t object);
  std::optional<size_t> find(std::string_view target) const;
  static std::string text(const BundleObject& object);

  World& world_;
  const RandomBundle bundle_;
  std::map<Where, size_t> places_;
  std::map<std::string, size_t, std::less<>> targets_;
  std::vector<Asking> asking_;
  std::map<std::string, int> heard_;
  bool begun_ = false;
};

}  // namespace fairlead::sim

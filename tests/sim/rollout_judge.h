// Watches what a rollout does to a cluster, from the store and from the webhooks themselves, and says what is wrong.
// It never looks at what the engine says of itself.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
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
  // Objects of the bundle's own API are in the store of its server.
  void watch_extension(sandbox::Store& store);

  // What happens before is none of the engine's doing, nor are the pods of what is there by then.
  void begin();
  // Somebody else deletes that namespace.
  void lets_go(const std::string& ns) { let_go_.insert(ns); }
  // A webhook was asked about something that was no dry run.
  void asked(size_t hook, const sandbox::ResourceId& resource, const sandbox::Place& place);
  // The same about a pod: validating webhooks know its uid, mutating ones leave their mark in it.
  void asked_about_pod(size_t hook, std::string_view uid);
  static std::string mark_of(const BundleHook& hook);
  // An object is written: by a request that arrives at an API server, and until it is answered there.
  void arrives(std::string_view target);
  void leaves(std::string_view target);
  // The engine sends an object of a bundle that only one run may work on at a time.
  void sends(const std::string& run);
  // The engine has heard in full that what it sent is stored.
  void heard(std::string_view run, std::string_view target);

  // The engine makes the fields of a former manager its own: it has to send the object once more.
  void takes_over(std::string_view run, std::string_view target);

  // At the end: the cluster has exactly the bundle, and no field that left it.
  void check_stored();
  // Those of them that are still there, for people; empty if none is.
  std::string still_there(const std::vector<BundleObject>& objects) const;
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
  void listen_to(sandbox::Store& store);
  void saw(const sandbox::ResourceId& resource, const sandbox::Event& event);
  void saw_pod(const Json& pod);
  sandbox::ObjectPtr find(const BundleObject& object) const;
  void check_hooks(size_t object, bool created);
  void check_needs(size_t object, bool created);
  std::optional<size_t> find(std::string_view target) const;
  static std::string text(const BundleObject& object);
  // It is, or is in, a namespace that somebody else deletes.
  bool is_let_go(const sandbox::Place& place) const;

  World& world_;
  const RandomBundle bundle_;
  std::map<Where, size_t> places_;
  std::map<std::string, size_t, std::less<>> targets_;
  std::vector<Asking> asking_;
  std::map<std::string, int> heard_;
  std::map<std::string, std::vector<size_t>, std::less<>> asked_about_pods_;  // hooks, by uid
  std::vector<std::string> senders_;                                          // in the order in which they began
  std::set<size_t> there_before_;
  std::set<std::string> let_go_;
  sandbox::Store* extension_ = nullptr;
  bool begun_ = false;
};

}  // namespace fairlead::sim

// Puts shadows into the cluster and removes them again.
//
// Every shadow is noted before its request is sent, so that it is removed even if the answer never arrives.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "async/scope.h"
#include "kube/client.h"
#include "readiness/shadow.h"
#include "readiness/shadow_objects.h"

namespace fairlead::readiness {

class ShadowStage {
 public:
  ShadowStage(kube::Client& client, Prover::Options options);

  const Prover::Options& options() const { return options_; }
  Loop& loop() { return client_.loop(); }

  // The stamp of the shadow, or the reason why there is none.
  struct Placed {
    Stamp stamp;
    std::optional<Proof> refusal;
  };
  using Build = std::function<std::vector<Json>(const Stamp& stamp, std::string_view version)>;
  // Creates the objects that `build` returns.
  Task<kube::Outcome<Placed>> put(GuardKind kind, Build build);
  // Removes a shadow in the background.
  void retire(GuardKind kind, const Stamp& stamp);

  // Our marker hooks in one configuration of somebody else. Each guest has its own field manager, whatever its hooks
  // are called.
  struct Guest {
    object::Resource resource;
    std::string configuration;
    std::string uid;
    std::string manager;
    // The names of the hooks so far.
    std::vector<std::string> hooks = {};
  };
  // Adds a hook to the guest's configuration. It replaces the hook of an earlier call for the same guest.
  Task<kube::Outcome<Placed>> put_hook(Guest guest);
  void retire_guest(std::string manager);

  // Sends a dry run that matches only the shadow with this stamp.
  Task<kube::Outcome<kube::Reply>> probe(const Stamp& stamp, uint64_t connection);
  // Call it when a probe of this shadow was refused for good (may_not_be_sent). Returns what to do instead: probe the
  // same shadow in another namespace, put a new shadow whose probes are of another kind, or give up.
  enum class NextProbe { none, same_shadow, new_shadow };
  NextProbe next_probe(const Stamp& stamp);
  // True if this shadow's kind of probe was given up after the shadow was put.
  bool is_outdated(const Stamp& stamp) const { return stamp.probe != probe_; }

  Task<kube::Outcome<kube::Reply>> get(object::Resource resource, std::string name);
  std::string next_guest_manager();
  // Removes all shadows of this run. Returns when they are removed or the time for it is up.
  Task<void> clear();
  Task<kube::Outcome<size_t>> sweep();
  Task<size_t> sweep(std::span<const Json> listed);

 private:
  Stamp next_stamp();
  Task<kube::Outcome<std::optional<Proof>>> rehearse(GuardKind kind, const Build& build);
  Task<kube::Outcome<std::optional<Proof>>> check_removal(GuardKind kind);
  Task<kube::Outcome<std::optional<Proof>>> create(GuardKind kind, const Stamp& stamp, const Build& build, bool& taken);
  Task<void> remove(GuardKind kind, std::string name);
  Task<void> remove_guest(std::string manager);
  Task<bool> remove_object(object::Resource resource, std::string name, std::string uid);
  Task<bool> remove_leftover(object::Resource resource, std::string configuration, std::string hook);
  // Removes what other runs left: the object itself, or hooks in it. Returns the number of removals.
  Task<size_t> sweep_object(const object::Resource& resource, const Json& object);
  // Does so for every object of a kind. Returns nothing if the kind may not be listed or is not served.
  Task<kube::Outcome<std::optional<size_t>>> sweep_kind(object::Resource resource);

  kube::Client& client_;
  Prover::Options options_;
  uint64_t last_number_ = 0;
  uint64_t last_guest_ = 0;
  bool rehearsed_ = false;
  std::map<GuardKind, Proof> refusals_;
  // The kinds of guards whose shadows this user may delete.
  std::set<GuardKind> removable_;
  ProbeKind probe_ = ProbeKind::runtime_class;
  // The index of the namespace that probes use, and the namespaces that do not allow them.
  size_t place_ = 0;
  std::set<std::string> closed_;
  // The version in which mutating policies are served, as an index in kPolicyVersions.
  size_t policy_version_ = 0;
  std::map<std::string, GuardKind> standing_;
  std::map<std::string, Guest> guests_;
  CancelSource stop_;
  Scope chores_;
};

// True if sending the probe again is pointless: the user lacks the right, or the server does not serve its kind.
bool may_not_be_sent(const kube::Fault& fault);
// Returns a Proof that nothing was proved.
Proof not_proved(std::string why, bool hopeless, std::optional<kube::Fault> fault = std::nullopt);

}  // namespace fairlead::readiness

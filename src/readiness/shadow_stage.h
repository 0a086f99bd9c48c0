// Puts shadows into the cluster and takes them away again, and knows at any time what is there.
//
// What is put is noted before the request goes out, so that nothing is forgotten whose answer never came.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/scope.h"
#include "kube/client.h"
#include "readiness/shadow.h"
#include "readiness/shadow_objects.h"

namespace fairlead::readiness {

class ShadowStage {
 public:
  ShadowStage(kube::Client& client, Prover::Options options);

  const Prover::Options& options() const { return options_; }
  Loop& loop() { return client_.loop(); }

  // What stands, or why nothing does.
  struct Placed {
    Stamp stamp;
    std::optional<Proof> refusal;
  };
  using Build = std::function<std::vector<Json>(const Stamp& stamp, std::string_view version)>;
  Task<kube::Outcome<Placed>> put(GuardKind kind, Build build);
  // Takes it away in the background.
  void retire(GuardKind kind, const Stamp& stamp);

  // A hook of ours inside somebody's configuration. One field manager a guest, whatever its hooks are called.
  struct Guest {
    object::Resource resource;
    std::string configuration;
    std::string uid;
    std::string manager;
    // What its hooks were called.
    std::vector<std::string> hooks = {};
  };
  Task<kube::Outcome<Placed>> put_hook(Guest guest);
  void retire_guest(std::string manager);

  // A dry run that only the shadow with this stamp meets.
  Task<kube::Outcome<kube::Reply>> probe(const Stamp& stamp, uint64_t connection);
  // Call it when a probe of this shadow was refused for good (may_not_be_sent). Returns what to do instead: probe the
  // same shadow in another namespace, put a new shadow whose probes are of another kind, or give up.
  enum class NextProbe { none, same_shadow, new_shadow };
  NextProbe next_probe(const Stamp& stamp);
  // The kind of its probes was given up after it was put.
  bool is_outdated(const Stamp& stamp) const { return stamp.probe != probe_; }

  Task<kube::Outcome<kube::Reply>> get(object::Resource resource, std::string name);
  std::string next_guest_manager();
  // Ends with everything taken away, or the time for it over.
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
  // What of it is left of other runs: itself, or hooks in it.
  Task<size_t> sweep_object(const object::Resource& resource, const Json& object);
  // Nothing if they may not be listed, or are not served.
  Task<kube::Outcome<std::optional<size_t>>> sweep_kind(object::Resource resource);

  kube::Client& client_;
  Prover::Options options_;
  uint64_t last_number_ = 0;
  uint64_t last_guest_ = 0;
  bool rehearsed_ = false;
  std::map<GuardKind, Proof> refusals_;
  // Shadows among these may be removed, as far as rights go.
  std::set<GuardKind> removable_;
  ProbeKind probe_ = ProbeKind::runtime_class;
  // Of the namespaces for probes: the one that is used, and those where they may not be sent.
  size_t place_ = 0;
  std::set<std::string> closed_;
  // The version in which mutating policies are served: of kPolicyVersions.
  size_t policy_version_ = 0;
  std::map<std::string, GuardKind> standing_;
  std::map<std::string, Guest> guests_;
  CancelSource stop_;
  Scope chores_;
};

// True if sending the probe again is pointless: the user lacks the right, or the server does not serve its kind.
bool may_not_be_sent(const kube::Fault& fault);
// Nothing was proved, for good or for now.
Proof not_proved(std::string why, bool hopeless, std::optional<kube::Fault> fault = std::nullopt);

}  // namespace fairlead::readiness

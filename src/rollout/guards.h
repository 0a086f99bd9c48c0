// Lets guards climb their ladder, and says when objects may lean on them.
//
// A guard that came or changed with this run is first proved to be in effect: nothing that it guards is sent before
// that. With failurePolicy Fail the guarded objects' own requests prove the rest, since they are refused until it
// answers. With Ignore, and for conversions, a mirror has to be answered, by every endpoint that is ready: otherwise
// objects would go in unseen. Proofs hold for one connection, `line`, and all objects with such guards are sent over
// it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "readiness/shadow.h"
#include "rollout/evidence.h"
#include "rollout/retry_gates.h"
#include "rollout/run.h"

namespace fairlead::rollout {

bool is_webhook(const graph::Guard& guard);

class Guards {
 public:
  Guards(Run& run, readiness::Prover& prover, Evidence& evidence, RetryGates& gates);

  // The guard's configuration is stored: makes it ready, or fails it. One task a guard.
  Task<void> climb(uint32_t guard);

  // The connection that the object has to be sent over, with every guard that came with this run in effect there, and
  // every endpoint asked that has become ready behind one that has to answer; 0 for any. Fails when cancelled.
  Task<Result<uint64_t>> connection_for(uint32_t node);
  // The connection is gone: what was proved for it has to be proved again.
  void lost(uint64_t connection);

  // The first guard that has to answer for the object and cannot yet: its Service came with this run, and the cluster
  // shows nobody behind it. The network may not even know that Service, and a call could hang for as long as it may.
  std::optional<uint32_t> beyond_reach(uint32_t node);
  // Where to wait for somebody behind it.
  RetryGate& gate_before(uint32_t guard);

  // Objects wait for it: from now on, what it stands on is watched.
  void held_at(uint32_t guard);
  // An API server does not trust it: if the configuration has changed since it was proved to be in effect, that server
  // may be one that stays with the form before, and it has to be proved again.
  void distrusted(uint32_t guard);
  // Something that guards stand on has changed.
  void evidence_changed(std::string_view kind, const std::string& ns, const std::string& name);

  // For reports.
  struct Standing {
    readiness::Rung rung = readiness::Rung::nothing;
    TimePoint since{};
    std::string evidence;
    std::optional<kube::Fault> fault;
    bool proved = true;
  };
  const Standing& standing(uint32_t guard) const { return states_[guard].standing; }
  std::optional<uint32_t> find_webhook(const kube::FaultWebhook& webhook) const;

 private:
  static constexpr Duration kBetweenTries = std::chrono::milliseconds(100);
  // How long a guard waits for a proof that the API server does not give. After that the rollout goes on by what the
  // cluster shows, and says so.
  static constexpr Duration kProofTime = std::chrono::seconds(30);
  // After this many rounds in a row in which no endpoint could be reached by its own address, the Service's answer is
  // enough.
  static constexpr int kSilentRounds = 3;

  // How it came into the cluster, which decides how it is proved to be in effect.
  enum class Origin { before, created, updated };
  struct State {
    Standing standing;
    Origin origin = Origin::before;
    // On which connection it was proved to be in effect.
    uint64_t proved_over = 0;
    // Cannot be proved: not asked again.
    bool unprovable = false;
    // The hook's form for which that holds.
    Json form;
    // Of one that had to answer: the endpoints that did, as long as they are ready.
    std::optional<std::set<std::string>> answering;
    // There were any: a Service can lead elsewhere.
    bool has_endpoints = false;
    // Rounds in a row in which nothing was proved about its endpoints.
    int silent_rounds = 0;
    // Somebody is asking it again.
    bool asking = false;
  };
  // Those who want the same proof at the same time share it.
  struct Shared {
    uint64_t asked = 0;
    uint64_t covered = 0;
    bool running = false;
    kube::Outcome<readiness::Proof> last;
  };

  Origin origin_of(const graph::Guard& guard) const;
  Task<Result<void>> prove_effect(uint32_t guard);
  // Warns once that the guard is not proved to be in effect. From then on nobody waits for that proof.
  void give_up_proof(uint32_t guard, const std::string& why);
  Task<kube::Outcome<readiness::Proof>> share(const std::string& what, uint32_t guard);
  Task<kube::Outcome<readiness::Proof>> ask(uint32_t guard);
  Task<Result<void>> climb_ladder(uint32_t guard);
  Task<Result<void>> climb_webhook(uint32_t guard);
  Task<Result<void>> await_answer(uint32_t guard);
  bool is_beyond_reach(uint32_t guard);
  // Nothing has become ready behind it that was not asked, and something is.
  bool still_answers(uint32_t guard) const;
  Task<Result<void>> await_answer_again(uint32_t guard);
  std::set<std::string> ready_addresses(const graph::Guard& guard) const;
  Task<Result<void>> await_api_service(uint32_t object);
  Task<Result<readiness::Proof>> mirror(uint32_t guard);
  // `before`: those that were ready when the guard answered.
  Task<Result<bool>> every_endpoint_listens(uint32_t guard, const std::set<std::string>& before);
  bool waits_for_answer(const graph::Guard& guard) const;
  // In a dry run: says that a guard that is not there yet was not asked.
  void tell_unchecked(uint32_t guard);
  void warn_of_skipping(uint32_t guard, const readiness::Proof& proof);
  void take(uint32_t guard, readiness::Proof proof);
  const Json* live_configuration(const graph::Guard& guard) const;
  bool changed_since_created(const graph::Guard& guard) const;
  Json live_form(const graph::Guard& guard) const;
  std::optional<readiness::Target> target_of(const graph::Guard& guard) const;
  std::string port_name(const graph::Guard& guard) const;
  bool guards_something_to_send(uint32_t guard) const;
  std::string gate_name(const graph::Guard& guard) const;

  Run& run_;
  readiness::Prover& prover_;
  Evidence& evidence_;
  RetryGates& gates_;
  Signal proved_;
  std::vector<State> states_;
  std::map<std::string, Shared> shared_;
  uint64_t line_ = 0;
  std::set<std::pair<uint32_t, uint32_t>> exempt_;
};

}  // namespace fairlead::rollout

// Proves guards step by step and reports when guarded objects may be sent.
//
// A guard that was created or changed in this run is first proved to be in effect; no object that it guards is sent
// before that. With failurePolicy Fail, the guarded objects' own requests prove the rest, since they are refused until
// the guard answers. With Ignore, and for conversions, a mirror has to be answered by every ready endpoint: otherwise
// the guard would be skipped for some objects. A proof is valid for one connection, `line_`, and all objects with such
// guards are sent over that connection.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "readiness/shadow.h"
#include "rollout/core/run.h"
#include "rollout/guards/evidence.h"
#include "rollout/guards/retry_gates.h"

namespace fairlead::rollout {

bool is_webhook(const graph::Guard& guard);

class Guards {
 public:
  Guards(Run& run, readiness::Prover& prover, Evidence& evidence, RetryGates& gates);

  // Runs after the guard's configuration was stored. Proves the guard, then marks it ready or failed. Run one task per
  // guard.
  Task<void> climb(GuardId guard);

  // Returns the connection over which the object has to be sent; 0 for any. Waits until every guard of the object that
  // was created or changed in this run is proved to be in effect there, and until every endpoint that has become ready
  // behind a guard that has to answer was asked. Fails when cancelled.
  Task<Result<uint64_t>> connection_for(NodeId node);
  // Call when the connection was lost. Whatever was proved for it has to be proved again.
  void lost(uint64_t connection);

  // Returns the first guard that has to answer for the object and cannot yet: its Service was created in this run, and
  // has no ready endpoint. The network may not know that Service yet, and a call to it could hang until it times out.
  std::optional<GuardId> beyond_reach(NodeId node);
  // Returns the RetryGate at which to wait for a ready endpoint. Requires that the guard has a Service.
  RetryGate& gate_before(GuardId guard);

  // Call when objects wait for the guard. From then on, the objects that it depends on are watched.
  void held_at(GuardId guard);
  // Call when an API server does not trust the guard's certificate. If the configuration has changed since the guard
  // was proved to be in effect, that API server may still use the former configuration, and the guard has to be proved
  // again.
  void distrusted(GuardId guard);
  // Call when an object that guards depend on has changed.
  void evidence_changed(std::string_view kind, const std::string& ns, const std::string& name);

  // How far the proof of a guard has come, for reports.
  struct Standing {
    readiness::Rung rung = readiness::Rung::nothing;
    TimePoint since{};
    std::string evidence;
    std::optional<kube::Fault> fault;
    bool proved = true;
  };
  const Standing& standing(GuardId guard) const { return states_[guard].standing; }
  std::optional<GuardId> find_webhook(const kube::FaultWebhook& webhook) const;

 private:
  static constexpr Duration kBetweenTries = std::chrono::milliseconds(100);
  // How long to wait for a proof that the API server does not give. After that the rollout continues with what the
  // cluster shows, and warns about it.
  static constexpr Duration kProofTime = std::chrono::seconds(30);
  // After this many rounds in a row that proved nothing about single endpoints, the Service's answer is enough.
  static constexpr int kSilentRounds = 3;

  // How the guard came into the cluster. This decides how it is proved to be in effect.
  enum class Origin { before, created, updated };
  struct State {
    Standing standing;
    Origin origin = Origin::before;
    // The connection on which it was proved to be in effect; 0 if there is none.
    uint64_t proved_over = 0;
    // It cannot be proved to be in effect, and the proof is not tried again.
    bool unprovable = false;
    // The webhook or conversion as it was when it was proved to be in effect.
    Json form;
    // For a guard that had to answer: the endpoints that answered and have been ready since.
    std::optional<std::set<std::string>> answering;
    // There were ready endpoints when it answered. A Service that leads elsewhere has none.
    bool has_endpoints = false;
    // The number of rounds in a row that proved nothing about single endpoints.
    int silent_rounds = 0;
    // A task is asking it again.
    bool asking = false;
  };
  // A proof that is shared by all tasks that want it at the same time.
  struct Shared {
    uint64_t asked = 0;
    uint64_t covered = 0;
    bool running = false;
    kube::Outcome<readiness::Proof> last;
  };

  Origin origin_of(const graph::Guard& guard) const;
  Task<Result<void>> prove_effect(GuardId guard);
  // Warns once that the guard is not proved to be in effect. From then on nobody waits for that proof.
  void give_up_proof(GuardId guard, const std::string& why);
  Task<kube::Outcome<readiness::Proof>> share(const std::string& what, GuardId guard);
  Task<kube::Outcome<readiness::Proof>> ask(GuardId guard);
  Task<Result<void>> climb_ladder(GuardId guard);
  Task<Result<void>> climb_webhook(GuardId guard);
  Task<Result<void>> await_answer(GuardId guard);
  bool is_beyond_reach(GuardId guard);
  // True if at least one endpoint is ready and every ready endpoint has answered. Also true if the guard did not have
  // to answer, answered without having any ready endpoint, or has endpoints that are not known.
  bool still_answers(GuardId guard) const;
  Task<Result<void>> await_answer_again(GuardId guard);
  std::set<std::string> ready_addresses(const graph::Guard& guard) const;
  Task<Result<void>> await_api_service(NodeId object);
  Task<Result<readiness::Proof>> mirror(GuardId guard);
  // `before`: the endpoints that were ready before the guard was asked.
  Task<Result<bool>> every_endpoint_listens(GuardId guard, const std::set<std::string>& before);
  bool waits_for_answer(const graph::Guard& guard) const;
  // In a dry run: warns that objects were not checked against a guard that this run creates or changes.
  void tell_unchecked(GuardId guard);
  void warn_of_skipping(GuardId guard, const readiness::Proof& proof);
  void take(GuardId guard, const readiness::Proof& proof);
  const Json* live_configuration(const graph::Guard& guard) const;
  bool changed_since_created(const graph::Guard& guard) const;
  Json live_form(const graph::Guard& guard) const;
  std::optional<readiness::Target> target_of(const graph::Guard& guard) const;
  std::string port_name(const graph::Guard& guard) const;
  bool guards_something_to_send(GuardId guard) const;
  std::string gate_name(const graph::Guard& guard) const;

  Run& run_;
  readiness::Prover& prover_;
  Evidence& evidence_;
  RetryGates& gates_;
  Signal proved_;
  plan::IdVector<GuardId, State> states_;
  std::map<std::string, Shared> shared_;
  uint64_t line_ = 0;
};

}  // namespace fairlead::rollout

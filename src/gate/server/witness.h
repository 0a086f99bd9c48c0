// Makes an API server itself call a webhook, where the gate's own calls do not show whether that works.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "gate/rules/health.h"
#include "gate/server/view.h"
#include "kube/client.h"
#include "readiness/shadow.h"

namespace fairlead::gate {

class Witness {
 public:
  virtual ~Witness() = default;
  // What the API server says of the webhook. Nothing if it cannot be made to tell.
  virtual Task<std::optional<Finding>> ask(HookPtr hook) = 0;
  // Deletes what was made in the cluster in order to ask about this webhook. Call it also when the webhook is gone.
  virtual Task<void> forget(std::string hook_id) = 0;
};

// By shadows (readiness/shadow.h): temporary webhook configurations that match nothing but the gate's own dry runs.
// There is one per webhook that it asks about.
class ShadowWitness final : public Witness {
 public:
  // `run` must be new in this cluster and have at most 22 characters. The client must outlive the witness.
  ShadowWitness(kube::Client& client, std::string run) : client_(client), run_(std::move(run)) {}

  // Deletes what gates that were killed have left behind.
  Task<void> sweep();
  Task<std::optional<Finding>> ask(HookPtr hook) override;
  Task<void> forget(std::string hook_id) override;

 private:
  std::unique_ptr<readiness::Prover> make_prover();

  kube::Client& client_;
  std::string run_;
  int number_ = 0;
  std::map<std::string, std::unique_ptr<readiness::Prover>> provers_;
};

// What a proof says about the webhook; nothing if nothing is proved, or if there was only no answer in time.
std::optional<Finding> finding_of(const Hook& hook, const readiness::Proof& proof);

}  // namespace fairlead::gate

#include "gate/server/witness.h"

#include <fmt/format.h>

#include "base/plain_text.h"
#include "readiness/proof.h"

namespace fairlead::gate {
namespace {

constexpr size_t kMaxText = 300;
// After this time, others delete what a gate that was killed has left behind.
constexpr Duration kLife = std::chrono::minutes(20);

}  // namespace

std::optional<Finding> finding_of(const Hook& hook, const readiness::Proof& proof) {
  if (!proof.proved) return std::nullopt;
  if (proof.rung == readiness::Rung::answering) return Finding{.kind = Finding::Kind::works};
  bool is_late = proof.fault && proof.fault->kind == kube::FaultKind::webhook_timeout;
  if (is_late) return std::nullopt;
  return Finding{.kind = Finding::Kind::failing,
                 .cause = plain_text(proof.evidence, kMaxText),
                 .next = fmt::format("fairlead wait webhook/{} --timeout 30s", hook.webhook.configuration)};
}

std::unique_ptr<readiness::Prover> ShadowWitness::make_prover() {
  return std::make_unique<readiness::Prover>(
      client_, readiness::Prover::Options{.run = fmt::format("{}-{}", run_, ++number_), .life = kLife});
}

Task<void> ShadowWitness::sweep() {
  std::unique_ptr<readiness::Prover> prover = make_prover();
  // Without the right to list policies, these stay for somebody who has it.
  (void)co_await prover->sweep();
  co_await prover->clean_up();
}

Task<std::optional<Finding>> ShadowWitness::ask(HookPtr hook) {
  std::unique_ptr<readiness::Prover>& prover = provers_[hook->id()];
  if (!prover) prover = make_prover();
  kube::Outcome<readiness::Proof> proof = co_await prover->mirror(readiness::target_of(hook->webhook), 0);
  if (!proof) co_return std::nullopt;
  co_return finding_of(*hook, *proof);
}

Task<void> ShadowWitness::forget(std::string hook_id) {
  auto found = provers_.find(hook_id);
  if (found == provers_.end()) co_return;
  std::unique_ptr<readiness::Prover> prover = std::move(found->second);
  provers_.erase(found);
  co_await prover->clean_up();
}

}  // namespace fairlead::gate

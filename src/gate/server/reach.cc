#include "gate/server/reach.h"

#include <fmt/format.h>

#include <random>

#include "admission/own.h"
#include "admission/webhook.h"
#include "async/scope.h"
#include "base/backoff.h"
#include "gate/server/registrations.h"
#include "readiness/shadow.h"

namespace fairlead::gate {
namespace {

constexpr Backoff kPauses(std::chrono::milliseconds(100), std::chrono::seconds(1));

// One webhook of the gate: all have the same address. Nothing if there is none.
Task<Result<std::optional<readiness::Target>>> find_target(kube::Client& client, std::string name) {
  kube::ListOptions own;
  own.label_selector = fmt::format("{}={}", admission::kGateLabel, name);
  auto listed = co_await client.list(mutating_configurations(), own);
  if (!listed) co_return fail(listed.error().error().in("the gate's webhook configurations cannot be listed"));
  for (const Json& configuration : listed->items)
    for (const admission::Webhook& webhook : admission::read_webhooks(configuration))
      co_return readiness::target_of(webhook);
  co_return std::nullopt;
}

Task<Result<void>> call_until_answered(kube::Client& client, readiness::Prover& prover, readiness::Target target,
                                       std::string& last) {
  Backoff pauses = kPauses;
  while (true) {
    kube::Outcome<readiness::Proof> proof = co_await prover.mirror(target, 0);
    if (proof && (proof->reached(readiness::Rung::answering) || proof->hopeless)) co_return Result<void>();
    if (!proof && proof.error().error().kind() == ErrorKind::cancelled) co_return fail(proof.error().error());
    last = !proof ? proof.error().error().message() : proof->proved ? proof->evidence : proof->why_not;
    CO_TRY(co_await sleep_for(client.loop(), pauses.next()));
  }
}

}  // namespace

Task<Result<void>> await_reach(kube::Client& client, std::string name, TimePoint deadline) {
  CO_TRY_ASSIGN(std::optional<readiness::Target> target, co_await find_target(client, std::move(name)));
  if (!target) co_return Result<void>();
  std::random_device random;
  readiness::Prover prover(client, {.run = fmt::format("gate-{:08x}{:08x}", random(), random())});
  std::string last;
  Result<void> reached = co_await with_deadline(client.loop(), deadline, "no API server has reached the gate in time",
                                                call_until_answered(client, prover, *std::move(target), last));
  co_await prover.clean_up();
  if (reached || reached.error().kind() != ErrorKind::timeout) co_return reached;
  Error error = std::move(reached).error();
  if (!last.empty()) error = std::move(error).because(last);
  co_return fail(std::move(error).next("fairlead gate status"));
}

}  // namespace fairlead::gate

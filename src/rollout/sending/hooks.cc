#include "rollout/sending/hooks.h"

#include <algorithm>

#include "inventory/membership.h"
#include "object/containers.h"
#include "rollout/core/retry.h"

namespace fairlead::rollout {
namespace {

using journal::EventKind;
using kube::FaultKind;

// How long each deletion at the end of a run is retried.
constexpr Duration kEnding = std::chrono::seconds(10);

bool runs_to_its_end(const object::Object& object) {
  return (object.group() == "batch" && object.kind() == "Job") || (object.group().empty() && object.kind() == "Pod");
}

bool has_contents(const object::Key& key) { return object::is_crd(key) || object::is_namespace(key); }

bool is_ours(const Run& run, const Json& live) {
  inventory::Identity identity{.label_value = run.part_of(), .managers = {run.field_manager()}};
  if (!run.part_of().empty()) return inventory::membership(live, identity) == inventory::Membership::member;
  const Json& metadata = live["metadata"];
  bool is_owned = !metadata["ownerReferences"].items().empty() || !inventory::part_of(live).empty();
  auto applied = [&](const Json& entry) {
    return entry["manager"].string_or("") == run.field_manager() && entry["operation"].string_or("") == "Apply";
  };
  return !is_owned && std::ranges::any_of(metadata["managedFields"].items(), applied);
}

// Repeats a request while its answer is a failure that passes by itself, until cancelled.
template <class Ask>
auto ask_until_final(const Run& run, Ask ask) -> decltype(ask()) {
  for (Backoff pauses = kRetryPauses;;) {
    auto answer = co_await ask();
    bool passes = !answer && (answer.error().fault() ? answer.error().fault()->disposition == kube::Disposition::passing
                                                     : answer.error().error().kind() == ErrorKind::unavailable);
    if (!passes || !co_await sleep_for(run.loop(), pauses.next())) co_return answer;
  }
}

Task<kube::Outcome<kube::Reply>> get(kube::Client& client, Run& run, NodeId node) {
  const object::Object& object = run.object(node);
  return ask_until_final(
      run, [&client, &run, &object] { return client.get(*run.kinds().of(object), object.ns(), object.name()); });
}

// Sends one DELETE. Only `requests` can cancel it, so that a request in flight may end.
Task<kube::Outcome<kube::Reply>> remove_once(kube::Client& client, Run& run, NodeId node,
                                             const kube::DeleteOptions& options, CancelSource& requests) {
  const object::Object& object = run.object(node);
  co_return co_await client.remove(*run.kinds().of(object), object.ns(), object.name(), options).governed_by(&requests);
}

Task<kube::Outcome<kube::Reply>> remove(kube::Client& client, Run& run, NodeId node, std::string uid,
                                        CancelSource& requests) {
  kube::DeleteOptions options{.uid = std::move(uid), .propagation = "Background"};
  co_return co_await ask_until_final(run, [&] { return remove_once(client, run, node, options, requests); });
}

// Returns the policy because of which the hook is deleted now; empty if it stays.
std::string_view ended_by(const Run& run, NodeId node, bool complete) {
  std::optional<graph::Hook> hook = hook_of(run, node);
  const ObjectState& state = run.state(node);
  if (!hook || state.stored == ObjectState::Stored::no || has_contents(run.object(node).key())) return {};
  // If the bundle has no name, an object that existed before may belong to somebody else.
  if (run.part_of().empty() && state.stored != ObjectState::Stored::created) return {};
  bool runs = runs_to_its_end(run.object(node));
  bool succeeded = run.plan().state(node) == Plan::State::done && state.verdict.state == readiness::State::ready;
  if (hook->delete_succeeded && succeeded && (runs || complete)) return "hook-succeeded";
  bool failed = run.plan().state(node) == Plan::State::failed && runs;
  return hook->delete_failed && failed ? "hook-failed" : std::string_view();
}

Task<void> delete_ended(kube::Client& client, Run& run, NodeId node, std::string_view policy) {
  CancelSource time_limit(&run.halt().requests());
  CancelAt timer(run.loop(), run.loop().now() + kEnding, time_limit);
  auto removed = co_await remove(client, run, node, run.state(node).uid, time_limit).governed_by(&time_limit);
  if (removed || removed.error().is(FaultKind::not_found))
    run.tell(EventKind::note, node, "deleted", fmt::format("deleted because of its hook-delete-policy: {}", policy));
  else
    run.tell(EventKind::warning, node, "stays",
             fmt::format("could not be deleted, although its hook-delete-policy is {}: {}", policy,
                         removed.error().error().message()));
}

}  // namespace

std::optional<graph::Hook> hook_of(const Run& run, NodeId node) {
  if (run.graph().is_left_out(node)) return std::nullopt;
  return graph::read_hook(run.object(node).annotations(), std::nullopt);
}

bool may_be_made_anew(const Run& run, NodeId node) {
  std::optional<graph::Hook> hook = hook_of(run, node);
  return hook && hook->delete_before && !has_contents(run.object(node).key());
}

bool runs_anew(const Run& run, NodeId node) {
  return may_be_made_anew(run, node) &&
         (runs_to_its_end(run.object(node)) || hook_of(run, node)->delete_before_is_said);
}

Task<kube::Outcome<Json>> find_former(kube::Client& client, Run& run, NodeId node) {
  auto there = co_await get(client, run, node);
  if (there) co_return is_ours(run, there->value) ? std::move(there->value) : Json();
  if (there.error().is(FaultKind::not_found)) co_return Json();
  co_return std::unexpected(std::move(there).error());
}

Task<kube::Outcome<void>> delete_former(kube::Client& client, Run& run, NodeId node, Json former) {
  std::string uid(former["metadata"]["uid"].string_or(""));
  run.tell(EventKind::note, node, "recreate",
           "Helm hook: the object of an earlier run is deleted, and the hook runs again");
  auto removed = co_await remove(client, run, node, uid, run.halt().requests());
  if (!removed && !removed.error().is(FaultKind::not_found)) co_return std::unexpected(std::move(removed).error());
  for (Backoff pauses = kRetryPauses;;) {
    auto there = co_await get(client, run, node);
    if (!there && there.error().is(FaultKind::not_found)) co_return kube::Outcome<void>();
    if (!there) co_return std::unexpected(std::move(there).error());
    if (there->value["metadata"]["uid"].string_or("") != uid) co_return kube::Outcome<void>();
    if (Result<void> slept = co_await sleep_for(run.loop(), pauses.next()); !slept)
      co_return std::unexpected(kube::Failure(slept.error()));
  }
}

Task<void> delete_ended_hooks(kube::Client& client, Run& run, bool complete) {
  if (run.options().dry_run) co_return;
  for (bool running : {true, false})
    for (NodeId node : run.objects()) {
      if (runs_to_its_end(run.object(node)) != running) continue;
      std::string_view policy = ended_by(run, node, complete);
      if (!policy.empty()) co_await delete_ended(client, run, node, policy);
    }
}

}  // namespace fairlead::rollout

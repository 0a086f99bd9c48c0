#include "removal/internal/sending.h"

#include <algorithm>

#include "kube/faults/another_object.h"
#include "object/containers.h"

namespace fairlead::removal {
namespace {

using journal::EventKind;
using kube::FaultKind;
using State = ObjectEnding::State;

// Somewhat more than the client has in flight at once. More would still be sent after the run was stopped.
constexpr size_t kUnderWay = 96;

std::string_view propagation_of(Cascade cascade) {
  switch (cascade) {
    case Cascade::background: return "Background";
    case Cascade::foreground: return "Foreground";
    case Cascade::orphan: return "Orphan";
  }
  return "";
}

// True if the API server says that this very object was deleted at once. For an object that is not deleted at once, the
// answer is the object.
bool says_gone(const Json& answer, std::string_view uid) {
  return answer["kind"].string_or("") == "Status" && answer["status"].string_or("") == "Success" &&
         answer["details"]["uid"].string_or("") == uid;
}

}  // namespace

void Sender::send(std::vector<NodeId> targets) {
  std::ranges::sort(targets, {},
                    [this](NodeId target) { return std::pair<std::string_view, NodeId>(run_.key(target).ns, target); });
  for (NodeId target : targets)
    if (!run_.plan()->is_settled(target)) begin(target);
  fill();
}

void Sender::begin(NodeId target) {
  TargetState& entry = run_.edit(target);
  if (run_.options().dry_run == DryRun::client) return would_go(target);
  if (run_.options().dry_run == DryRun::none) {
    entry.moved_at = run_.loop().now();
    stuck_monitor_.set_time(target);
  }
  // A second DELETE changes nothing for an object that is being deleted, unless it asks for another propagation.
  if (entry.progress.terminating && run_.options().cascade == Cascade::background &&
      run_.options().dry_run == DryRun::none)
    return told(target, "already being deleted");
  enqueue(target);
}

void Sender::enqueue(NodeId target) {
  if (is_namespace(run_.key(target))) queue_.push_front(target);
  else queue_.push_back(target);
}

void Sender::fill() {
  while (under_way_ < kUnderWay && !queue_.empty() && !run_.halt().waits().cancelled()) {
    NodeId target = queue_.front();
    queue_.pop_front();
    if (run_.plan()->is_settled(target)) continue;
    ++under_way_;
    scope_.spawn(remove(target));
  }
}

Task<void> Sender::remove(NodeId target) {
  kube::Outcome<kube::Reply> outcome =
      co_await client_
          .remove(*run_.state(target).resource, run_.key(target).ns, run_.key(target).name,
                  {.uid = run_.state(target).uid,
                   .propagation = std::string(propagation_of(run_.options().cascade)),
                   .dry_run = run_.options().dry_run == DryRun::server})
          .governed_by(&run_.halt().requests());
  --under_way_;
  bool repeat = !run_.plan()->is_settled(target) && is_to_repeat(target, outcome);
  fill();
  if (!repeat) co_return;
  Duration pause = pauses_.try_emplace(target, kRetryPauses).first->second.next();
  if (!co_await sleep_for(run_.loop(), pause).governed_by(&run_.halt().waits())) co_return;
  enqueue(target);
  fill();
}

bool Sender::is_to_repeat(NodeId target, const kube::Outcome<kube::Reply>& outcome) {
  TargetState& entry = run_.edit(target);
  if (outcome) {
    entry.fault.reset();
    if (run_.options().dry_run == DryRun::server) would_go(target);
    else if (says_gone(outcome->value, entry.uid)) run_.gone(target);
    else {
      if (outcome->value["metadata"]["uid"].is_string()) run_.see(target, outcome->value);
      if (!run_.plan()->is_settled(target)) told(target, "");
    }
    return false;
  }
  const kube::Fault* fault = outcome.error().fault();
  Error error = outcome.error().error();
  if (fault && (fault->kind == FaultKind::not_found || fault->kind == FaultKind::not_served)) {
    run_.gone(target);
    return false;
  }
  if (fault && kube::is_about_another_object(*fault)) {
    run_.gone(target, "another object has its name now and is not touched");
    return false;
  }
  if (fault && fault->kind != FaultKind::conflict && fault->disposition == kube::Disposition::permanent) {
    auto around = run_.find_namespace_of(target);
    bool goes_anyway = around && run_.plan()->state(*around) == Plan::State::started;
    if (goes_anyway && run_.state(*around).told) {
      told(target, "deleted with its namespace");
      return false;
    }
    if (!goes_anyway) {
      run_.refuse(
          target,
          Error(ErrorKind::denied, fmt::format("{} could not be deleted", run_.key(target).text())).because(error));
      return false;
    }
  }
  bool is_news = !entry.fault || entry.fault->message() != error.message();
  entry.fault = error;
  if (is_news)
    run_.tell(EventKind::error, target, "not removed", "the deletion was not accepted and is retried", error);
  return true;
}

void Sender::would_go(NodeId target) {
  run_.tell(EventKind::note, target, "would go", "would be deleted");
  run_.ended(target, State::would_go);
}

void Sender::told(NodeId target, std::string text) {
  TargetState& entry = run_.edit(target);
  entry.told = true;
  entry.moved_at = run_.loop().now();
  run_.tell(EventKind::progress, target, "leaving", std::move(text));
  if (run_.options().wait || run_.plan()->is_needed_done(target)) return;
  run_.ended(target, State::leaving);
}

}  // namespace fairlead::removal

#include "removal/internal/sending.h"

#include <algorithm>

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

void Sender::send(std::vector<uint32_t> targets) {
  std::ranges::sort(targets, {}, [this](uint32_t target) {
    return std::pair<std::string_view, uint32_t>(run_.key(target).ns, target);
  });
  for (uint32_t target : targets)
    if (!run_.plan->is_settled(target)) begin(target);
  fill();
}

void Sender::begin(uint32_t target) {
  TargetState& entry = run_.states[target];
  if (run_.options.dry_run == DryRun::client) return would_go(target);
  if (run_.options.dry_run == DryRun::none) {
    entry.moved_at = run_.loop.now();
    stuck_monitor_.set_time(target);
  }
  // A second DELETE changes nothing for an object that is being deleted, unless it asks for another propagation.
  if (entry.progress.terminating && run_.options.cascade == Cascade::background && run_.options.dry_run == DryRun::none)
    return told(target, "on its way out already");
  enqueue(target);
}

void Sender::enqueue(uint32_t target) {
  if (is_namespace(run_.key(target))) queue_.push_front(target);
  else queue_.push_back(target);
}

void Sender::fill() {
  while (under_way_ < kUnderWay && !queue_.empty() && !run_.waits.cancelled()) {
    uint32_t target = queue_.front();
    queue_.pop_front();
    if (run_.plan->is_settled(target)) continue;
    ++under_way_;
    scope_.spawn(remove(target));
  }
}

Task<void> Sender::remove(uint32_t target) {
  kube::Outcome<kube::Reply> outcome =
      co_await run_.client
          .remove(*run_.states[target].resource, run_.key(target).ns, run_.key(target).name,
                  {.uid = run_.states[target].uid,
                   .propagation = std::string(propagation_of(run_.options.cascade)),
                   .dry_run = run_.options.dry_run == DryRun::server})
          .governed_by(&run_.requests);
  --under_way_;
  bool repeat = !run_.plan->is_settled(target) && is_to_repeat(target, outcome);
  fill();
  if (!repeat) co_return;
  Duration pause = pauses_.try_emplace(target, kRetryPauses).first->second.next();
  if (!co_await sleep_for(run_.loop, pause).governed_by(&run_.waits)) co_return;
  enqueue(target);
  fill();
}

bool Sender::is_to_repeat(uint32_t target, const kube::Outcome<kube::Reply>& outcome) {
  TargetState& entry = run_.states[target];
  if (outcome) {
    entry.fault.reset();
    if (run_.options.dry_run == DryRun::server) would_go(target);
    else if (says_gone(outcome->value, entry.uid)) run_.gone(target);
    else {
      if (outcome->value["metadata"]["uid"].is_string()) run_.see(target, outcome->value);
      if (!run_.plan->is_settled(target)) told(target, "");
    }
    return false;
  }
  const kube::Fault* fault = outcome.error().fault();
  Error error = outcome.error().error();
  if (fault && (fault->kind == FaultKind::not_found || fault->kind == FaultKind::not_served)) {
    run_.gone(target);
    return false;
  }
  if (fault && fault->kind == FaultKind::conflict && fault->message.find("UID in precondition") != std::string::npos) {
    run_.gone(target, "another one has its name by now, and stays");
    return false;
  }
  if (fault && fault->kind != FaultKind::conflict && fault->disposition == kube::Disposition::permanent) {
    auto around = run_.find_namespace_of(target);
    bool goes_anyway = around && run_.plan->state(*around) == Plan::State::started;
    if (goes_anyway && run_.states[*around].told) {
      told(target, "goes with its namespace");
      return false;
    }
    if (!goes_anyway) {
      run_.refuse(
          target,
          Error(ErrorKind::denied, fmt::format("{} could not be removed", run_.key(target).text())).because(error));
      return false;
    }
  }
  bool is_news = !entry.fault || entry.fault->message() != error.message();
  entry.fault = error;
  if (is_news)
    run_.tell(EventKind::error, target, "not removed", "its removal was not accepted, and is tried again", error);
  return true;
}

void Sender::would_go(uint32_t target) {
  run_.settle(target, State::would_go);
  run_.tell(EventKind::note, target, "would go", "would be removed");
  run_.plan->done(target);
  run_.changed.notify_all();
}

void Sender::told(uint32_t target, std::string text) {
  TargetState& entry = run_.states[target];
  entry.told = true;
  entry.moved_at = run_.loop.now();
  run_.tell(EventKind::progress, target, "leaving", std::move(text));
  if (run_.options.wait || run_.plan->is_needed_done(target)) return;
  run_.settle(target, State::leaving);
  run_.plan->done(target);
  run_.changed.notify_all();
}

}  // namespace fairlead::removal

#include "rollout/core/deadline.h"

#include <algorithm>
#include <utility>

namespace fairlead::rollout {
namespace {

void add_behind(const Run& run, NodeId object, const graph::Guard& guard, std::vector<NodeId>& workloads) {
  for (NodeId node : guard.backed_by)
    if (node != object && !run.graph().is_left_out(node)) workloads.push_back(node);
}

std::vector<NodeId> behind_meetings(const Run& run, NodeId object, bool by_pods) {
  std::vector<NodeId> workloads;
  for (const graph::GuardMatch& match : run.graph().guards_of(object))
    if (match.by_pods == by_pods) add_behind(run, object, run.graph().guards()[match.guard], workloads);
  return workloads;
}

}  // namespace

Deadline::Deadline(const Run& run, const object::Key& key, std::vector<NodeId> workloads, std::function<void()> over)
    : run_(run),
      limit_(run.timeout_for(key)),
      workloads_(run.has_chosen_timeout(key) ? std::vector<NodeId>() : std::move(workloads)),
      over_(std::move(over)),
      begun_(run.loop().now()) {
  arm();
}

Deadline::~Deadline() {
  if (!passed_) run_.loop().cancel_timer(timer_);
}

void Deadline::arm() {
  timer_ = run_.loop().call_after(due() - run_.loop().now(), [this] {
    if (due() > run_.loop().now()) {
      arm();
      return;
    }
    passed_ = true;
    // `over` may destroy the Deadline, and with it over_.
    auto over = std::move(over_);
    over();
  });
}

TimePoint Deadline::due() const {
  TimePoint due = begun_ + limit_;
  for (NodeId workload : workloads_) due = std::max(due, due_after(workload));
  return due;
}

TimePoint Deadline::due_after(NodeId workload) const {
  const ObjectState& state = run_.state(workload);
  Duration time_limit = run_.timeout_for(run_.object(workload).key());
  switch (run_.plan().state(workload)) {
    case Plan::State::started: return state.started + time_limit;
    case Plan::State::stored: return state.stored_at + time_limit;
    case Plan::State::done:
      // If the run does not wait for readiness, a stored workload counts as done.
      return std::max(run_.settled_at(workload) + limit_,
                      run_.options().wait ? TimePoint() : state.stored_at + time_limit);
    case Plan::State::waiting:
    case Plan::State::failed:
    case Plan::State::blocked: break;
  }
  return {};
}

std::vector<NodeId> workloads_before(const Run& run, NodeId object) { return behind_meetings(run, object, false); }

std::vector<NodeId> workloads_behind(const Run& run, NodeId object) {
  std::vector<NodeId> workloads = behind_meetings(run, object, true);
  for (const graph::Guard& guard : run.graph().guards())
    if (guard.object == object) add_behind(run, object, guard, workloads);
  return workloads;
}

}  // namespace fairlead::rollout

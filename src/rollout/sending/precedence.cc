#include "rollout/sending/precedence.h"

#include <algorithm>
#include <array>

#include "object/containers.h"

namespace fairlead::rollout {
namespace {

constexpr Duration kLongest = std::chrono::milliseconds(500);
// How many CRDs are sent at once. With more, none would be stored sooner, and all other objects would be stored later.
constexpr size_t kDefinitions = 4;
// CRDs wait only for workloads that need at most this many objects.
constexpr size_t kLittle = 50;

bool is_workload(const object::Object& object) {
  constexpr std::array<std::string_view, 4> kApps{"DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"};
  if (object.group() == "apps") return std::ranges::find(kApps, object.kind()) != kApps.end();
  return object.group().empty() && object.kind() == "Pod";
}

}  // namespace

Precedence::Precedence(const Run& run) : run_(run), changed_(run.loop()) {}

void Precedence::begin() {
  until_ = run_.loop().now() + kLongest;
  for (NodeId node : run_.objects()) {
    bool is_sent = run_.plan().state(node) >= Plan::State::stored || run_.state(node).fault;
    if (is_workload(run_.object(node)) && !run_.unchanged(node) && !is_sent && needs_little(node)) first_.insert(node);
  }
}

bool Precedence::needs_little(NodeId workload) const {
  if (run_.graph().is_left_out(workload)) return false;
  std::vector<NodeId> found{workload};
  for (size_t i = 0; i < found.size(); ++i) {
    if (found.size() > kLittle) return false;
    for (const graph::Need& need : run_.graph().needs_of(found[i])) {
      graph::Node::Kind kind = run_.graph().nodes()[need.target].kind;
      bool is_object = kind == graph::Node::Kind::object;
      if (need.level != graph::Level::stored || (!is_object && kind != graph::Node::Kind::all_of)) return false;
      if (is_object && is_crd(run_.object(need.target).key())) return false;
      if (std::ranges::find(found, need.target) == found.end()) found.push_back(need.target);
    }
  }
  return true;
}

Task<Result<void>> Precedence::await(NodeId node) {
  if (!is_crd(run_.object(node).key())) co_return Result<void>();
  if (!until_) begin();
  while (!first_.empty() && run_.loop().now() < *until_) {
    Loop::TimerId timer = run_.loop().call_at(*until_, [this] { changed_.notify_all(); });
    Result<void> woken = co_await changed_.wait();
    run_.loop().cancel_timer(timer);
    CO_TRY(woken);
  }
  while (definitions_ >= kDefinitions) CO_TRY(co_await changed_.wait());
  ++definitions_;
  co_return Result<void>();
}

void Precedence::sent(NodeId node) {
  if (is_crd(run_.object(node).key())) --definitions_;
  else if (first_.erase(node) == 0) return;
  changed_.notify_all();
}

}  // namespace fairlead::rollout

// Decides which nodes of a dependency graph may start next, and which are blocked, and by what.
//
// This is the room's first header. The engines of rollouts and removals report what became of a node; the plan then
// releases the nodes whose needs are met. The room is pure: it reads no clock and does no I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/adjacency.h"

namespace fairlead::plan {

// How far a node must have come before a node that needs it may start.
enum class Level : uint8_t {
  stored,  // it was stored, whatever became of it afterwards
  alive,   // it was stored and has not failed since
  done,
};

enum class Role : uint8_t {
  work,       // the engine works on it, and unsettled() counts it
  helper,     // the engine works on it, and the run does not wait for it
  milestone,  // done as soon as its needs are met
  group,      // a milestone that only stands for its needs: unmet() lists those in its place
  excluded,   // never started
};

struct Edge {
  uint32_t node = 0;
  uint32_t needs = 0;
  Level level = Level::done;
  // For people. Must outlive the plan.
  std::string_view reason;
};

class Plan {
 public:
  enum class State : uint8_t {
    waiting,  // a need is not met yet
    started,  // take_startable() returned it: the engine is working on it
    stored,
    done,
    failed,
    blocked,  // never started, because a node that it needs failed
  };

  // Nodes are numbered by their place in `roles`. The edges must not form a loop.
  Plan(std::vector<Role> roles, std::vector<Edge> edges);

  // Returns the nodes whose needs are met, in ascending order. Each is returned once; milestones and groups never are.
  std::vector<uint32_t> take_startable();

  // Each has no effect on a node that is settled, or that has come that far.
  void stored(uint32_t node);
  void done(uint32_t node);
  // Every node that was not started and whose need of this node, direct or not, can no longer be met becomes blocked.
  void failed(uint32_t node);

  State state(uint32_t node) const { return states_[node]; }
  // Done, failed or blocked.
  bool is_settled(uint32_t node) const { return states_[node] >= State::done; }
  // The number of nodes of Role::work that are not settled.
  size_t unsettled() const { return unsettled_; }

  // True if a node cannot start before this one is done.
  bool is_needed_done(uint32_t node) const;
  // Returns the needs of a node that are not met, at most so many. A need of a group has the reason of the group's
  // own need, or if that has none, the reason why the group is needed.
  std::vector<Edge> unmet(uint32_t node, size_t at_most = SIZE_MAX) const;
  // The node whose failure blocked this one. Requires that the node failed, which gives itself, or is blocked.
  uint32_t root_cause(uint32_t node) const { return cause_[node]; }
  // The nodes of Role::work that the failure of this one blocked, in ascending order.
  std::vector<uint32_t> blocked_by(uint32_t node) const;

 private:
  bool is_met(const Edge& edge) const;
  void meet(uint32_t node);
  void advance(uint32_t node, State state);
  void settle(uint32_t node, State state);
  void find_unmet(uint32_t node, size_t at_most, std::string_view reason, std::vector<Edge>& all) const;

  std::vector<Role> roles_;
  std::vector<Edge> edges_;
  Adjacency needs_;       // from each node to its edges
  Adjacency dependents_;  // from each node to the edges of those that need it
  std::vector<State> states_;
  std::vector<bool> was_stored_;
  std::vector<uint32_t> unmet_;
  std::vector<uint32_t> cause_;
  std::vector<uint32_t> startable_;
  size_t unsettled_ = 0;
};

}  // namespace fairlead::plan

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
#include "plan/id.h"

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
  NodeId node;
  NodeId needs;
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
  std::vector<NodeId> take_startable();

  // Each has no effect on a node that is settled, or that has come that far.
  void stored(NodeId node);
  void done(NodeId node);
  // Every node that was not started and whose need of this node, direct or not, can no longer be met becomes blocked.
  void failed(NodeId node);

  State state(NodeId node) const { return states_[node]; }
  // Done, failed or blocked.
  bool is_settled(NodeId node) const { return states_[node] >= State::done; }
  // The number of nodes of Role::work that are not settled.
  size_t unsettled() const { return unsettled_; }

  // True if a node cannot start before this one is done.
  bool is_needed_done(NodeId node) const;
  // Returns the needs of a node that are not met, at most so many. A need of a group has the reason of the group's
  // own need, or if that has none, the reason why the group is needed.
  std::vector<Edge> unmet(NodeId node, size_t at_most = SIZE_MAX) const;
  // The node whose failure blocked this one. Requires that the node failed, which gives itself, or is blocked.
  NodeId root_cause(NodeId node) const { return cause_[node]; }
  // The nodes of Role::work that the failure of this one blocked, in ascending order.
  std::vector<NodeId> blocked_by(NodeId node) const;

 private:
  bool is_met(const Edge& edge) const;
  void meet(NodeId node);
  void advance(NodeId node, State state);
  void settle(NodeId node, State state);
  void find_unmet(NodeId node, size_t at_most, std::string_view reason, std::vector<Edge>& all) const;

  using EdgeId = Id<Edge>;

  IdVector<NodeId, Role> roles_;
  IdVector<EdgeId, Edge> edges_;
  Adjacency<EdgeId> needs_;       // from each node to its edges
  Adjacency<EdgeId> dependents_;  // from each node to the edges of those that need it
  IdVector<NodeId, State> states_;
  IdVector<NodeId, bool> was_stored_;
  IdVector<NodeId, uint32_t> unmet_;
  IdVector<NodeId, NodeId> cause_;
  std::vector<NodeId> startable_;
  size_t unsettled_ = 0;
};

}  // namespace fairlead::plan

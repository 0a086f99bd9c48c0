// What may go now, and what is held by what: the rollout without its requests. Pure: knows no clock and does no I/O.
//
// The engine tells what became of a node; the plan says what that lets go. Waves and groups are met by themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace fairlead::rollout {

class Plan {
 public:
  enum class State : uint8_t {
    waiting,  // something that it needs is not there yet
    started,  // its needs are met: it was given out, and the engine is at work on it
    stored,
    ready,
    failed,
    held,  // never started, since something that it needs failed
  };

  // The graph must outlive it, and have no errors.
  explicit Plan(const graph::Graph& graph);

  // The objects, guards and things outside whose needs are met by now, each once. Those that are left out never come.
  std::vector<uint32_t> take_startable();

  void stored(uint32_t node);
  void ready(uint32_t node);
  // Everything that needs it, however far, and was not started yet is held by it.
  void failed(uint32_t node);

  State state(uint32_t node) const { return states_[node]; }
  bool is_settled(uint32_t node) const { return states_[node] >= State::ready; }
  // Objects that are neither ready, failed nor held.
  size_t unsettled() const { return unsettled_; }

  // Somebody cannot start before the node is ready: that it is stored is not enough.
  bool is_needed_ready(uint32_t node) const;
  // What a waiting node waits for itself; the needs of groups in place of the groups.
  std::vector<graph::Need> unmet(uint32_t node) const;
  // Of a node that is held: the one that failed.
  uint32_t root_cause(uint32_t node) const { return cause_[node]; }
  // Everything that a node which failed holds, in order.
  std::vector<uint32_t> held_by(uint32_t node) const;

 private:
  // Who needs a node, and how much of it.
  struct Dependent {
    uint32_t node;
    graph::Level level;
  };

  // Of guards: they are not ready before what they stand on works, but the proof begins as soon as it is stored.
  graph::Level level_of(uint32_t node, const graph::Need& need) const;
  bool is_met(uint32_t node, const graph::Need& need) const;
  bool is_object(uint32_t node) const { return node < graph_.object_count(); }
  void met(uint32_t dependent);
  void advance(uint32_t node, State state);
  void settle_if_object(uint32_t node);
  std::span<const Dependent> dependents(uint32_t node) const;

  const graph::Graph& graph_;
  std::vector<State> states_;
  std::vector<uint32_t> unmet_;
  std::vector<uint32_t> cause_;
  std::vector<Dependent> dependents_;
  std::vector<size_t> first_dependent_;
  std::vector<uint32_t> startable_;
  size_t unsettled_ = 0;
};

}  // namespace fairlead::rollout

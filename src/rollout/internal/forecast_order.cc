#include "rollout/internal/forecast_order.h"

#include <algorithm>
#include <set>

namespace fairlead::rollout {
namespace {

using Wait = Forecast::Wait;

// More than this many waits of an object tell nobody anything.
constexpr size_t kMostWaits = 20;

class Order {
 public:
  explicit Order(const Run& run) : run_(run), steps_(run.graph().nodes().size()), known_(run.graph().nodes().size()) {
    for (const graph::Exemption& exemption : run.graph().exemptions())
      exempt_.emplace(exemption.object, exemption.guard);
  }

  void add() {
    for (NodeId node : run_.objects()) {
      if (!acts(node)) continue;
      Forecast& forecast = *run_.state(node).forecast;
      find_step(node);
      forecast.step = steps_[node];
      add_waits(node, "", forecast.waits);
      if (forecast.unchecked.empty()) forecast.unchecked = unseen_by(node);
    }
  }

 private:
  // True if the node is an object that would not stay as it is.
  bool acts(NodeId node) const { return run_.is_object(node) && run_.state(node).forecast; }
  bool acts(const graph::Guard& guard) const {
    return (guard.object && acts(*guard.object)) ||
           std::ranges::any_of(guard.backed_by, [this](NodeId node) { return acts(node); });
  }

  // Finds the step of a node and of all that it needs, without recursion: chains of needs can be long.
  void find_step(NodeId first) {
    std::vector<NodeId> stack = {first};
    while (!stack.empty()) {
      NodeId node = stack.back();
      size_t before = stack.size();
      uint32_t latest = 0;
      for (const graph::Need& need : run_.graph().needs_of(node)) {
        if (!known_[need.target]) stack.push_back(need.target);
        else latest = std::max(latest, steps_[need.target]);
      }
      if (stack.size() > before) continue;
      steps_[node] = latest + (acts(node) ? 1 : 0);
      known_[node] = true;
      stack.pop_back();
    }
  }

  void add_waits(NodeId node, std::string_view outer, std::vector<Wait>& waits) const {
    for (const graph::Need& need : run_.graph().needs_of(node)) {
      if (waits.size() >= kMostWaits) return;
      std::string reason(need.reason.empty() ? outer : need.reason);
      const graph::Node& target = run_.graph().nodes()[need.target];
      switch (target.kind) {
        case graph::Node::Kind::all_of: add_waits(need.target, reason, waits); break;
        case graph::Node::Kind::object:
          if (acts(need.target)) add_wait(need.target, graph::name_of(need.level), std::move(reason), waits);
          break;
        case graph::Node::Kind::guard:
          if (acts(run_.graph().guards()[target.guard()])) add_wait(need.target, "proved", std::move(reason), waits);
          break;
        case graph::Node::Kind::wave:
        case graph::Node::Kind::outside: add_wait(need.target, "ready", std::move(reason), waits); break;
      }
    }
  }
  void add_wait(NodeId target, std::string_view until, std::string reason, std::vector<Wait>& waits) const {
    waits.push_back({.what = run_.graph().text(target), .until = std::string(until), .reason = std::move(reason)});
  }

  // Returns why a guard of the bundle has not seen the object; empty if every guard has.
  std::string unseen_by(NodeId node) const {
    for (const graph::GuardMatch& match : run_.graph().guards_of(node)) {
      const graph::Guard& guard = run_.graph().guards()[match.guard];
      bool decides = guard.kind != graph::Guard::Kind::conversion && guard.kind != graph::Guard::Kind::api_service;
      if (!decides || match.by_pods || exempt_.contains({node, match.guard}) || !guard.object || !acts(*guard.object))
        continue;
      return fmt::format("{} is {} by this bundle and has not checked it", guard.text(),
                         guard.in_cluster ? "changed" : "created");
    }
    return {};
  }

  const Run& run_;
  plan::IdVector<NodeId, uint32_t> steps_;
  plan::IdVector<NodeId, bool> known_;
  std::set<std::pair<NodeId, GuardId>> exempt_;
};

}  // namespace

void add_order(const Run& run) { Order(run).add(); }

}  // namespace fairlead::rollout

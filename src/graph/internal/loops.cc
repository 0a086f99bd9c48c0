#include "graph/internal/loops.h"

#include <queue>

#include "plan/adjacency.h"

namespace fairlead::graph {
namespace {

constexpr size_t kMostLoops = 20;

// The number of the strongly connected component of each node.
using Components = plan::IdVector<NodeId, uint32_t>;

// Maps each node to the numbers of the edges that start there.
plan::Adjacency<EdgeId> needs_by_node(const GraphBuilder& builder) {
  plan::Adjacency<EdgeId> links(builder.contents->nodes.size());
  for (const Edge& edge : builder.edges) links.count(edge.from);
  links.lay_out();
  for (EdgeId e : builder.edges.ids()) links.add(builder.edges[e].from, e);
  return links;
}

Components components_of(const GraphBuilder& builder, bool hard_only) {
  plan::Adjacency<NodeId> links(builder.contents->nodes.size());
  for (const Edge& edge : builder.edges)
    if (edge.hard || !hard_only) links.count(edge.from);
  links.lay_out();
  for (const Edge& edge : builder.edges)
    if (edge.hard || !hard_only) links.add(edge.from, edge.to);
  return plan::components(links);
}

// Returns the nodes of every component that has more than one.
std::vector<std::vector<NodeId>> knots(const Components& component) {
  std::vector<uint32_t> sizes;
  for (uint32_t c : component) {
    if (sizes.size() <= c) sizes.resize(c + 1);
    ++sizes[c];
  }
  std::vector<uint32_t> place(sizes.size(), kNone);
  std::vector<std::vector<NodeId>> result;
  for (NodeId node : component.ids()) {
    uint32_t c = component[node];
    if (sizes[c] < 2) continue;
    if (place[c] == kNone) {
      place[c] = static_cast<uint32_t>(result.size());
      result.emplace_back();
    }
    result[place[c]].push_back(node);
  }
  return result;
}

class Loops {
 public:
  explicit Loops(GraphBuilder& builder)
      : builder_(builder), needs_(needs_by_node(builder)), gone_(builder.edges.size()) {}

  void run() {
    Components hard = components_of(builder_, true);
    std::vector<std::vector<NodeId>> hard_knots = knots(hard);
    for (size_t i = 0; i < std::min(hard_knots.size(), kMostLoops); ++i) report(hard_knots[i], hard);
    // While hard needs form a loop, there is no order that soft needs could fit into.
    if (!hard_knots.empty()) return;
    Components all = components_of(builder_, false);
    for (const std::vector<NodeId>& knot : knots(all)) untie(knot, all);
    plan::IdVector<EdgeId, Edge> kept;
    for (EdgeId e : builder_.edges.ids())
      if (!gone_[e]) kept.add(builder_.edges[e]);
    if (kept.size() != builder_.edges.size()) builder_.edges = std::move(kept);
  }

 private:
  // Returns the edges of the shortest loop of hard needs through `start`.
  std::vector<EdgeId> loop_from(NodeId start, const Components& component) const {
    std::unordered_map<NodeId, EdgeId> came_by;  // from each node to the edge that reached it
    std::queue<NodeId> open({start});
    while (!open.empty()) {
      NodeId node = open.front();
      open.pop();
      for (EdgeId e : needs_.from(node)) {
        const Edge& edge = builder_.edges[e];
        if (!edge.hard || component[edge.to] != component[start] || !came_by.emplace(edge.to, e).second) continue;
        if (edge.to != start) {
          open.push(edge.to);
          continue;
        }
        std::vector<EdgeId> loop;
        NodeId at = start;
        do {
          loop.push_back(came_by.at(at));
          at = builder_.edges[loop.back()].from;
        } while (at != start);
        std::ranges::reverse(loop);
        return loop;
      }
    }
    return {};
  }

  std::string named(NodeId node) const {
    std::string text = builder_.contents->text(node);
    std::string where = builder_.is_object(node) ? builder_.position(node) : "";
    return where.empty() ? text : fmt::format("{} ({})", text, where);
  }

  void report(const std::vector<NodeId>& knot, const Components& component) {
    std::vector<std::string> steps;
    // A group stands for its members, so the path through it is reported as one step.
    NodeId from = kNoNode;
    for (EdgeId e : loop_from(knot[0], component)) {
      const Edge& edge = builder_.edges[e];
      if (from == kNoNode) from = edge.from;
      if (builder_.contents->nodes[edge.to].kind == Node::Kind::all_of) continue;
      steps.push_back(fmt::format("{} needs {}{}: {}", named(from), builder_.contents->text(edge.to),
                                  edge.level == Level::ready ? " to be ready" : "", *edge.reason));
      from = kNoNode;
    }
    std::optional<Error> cause;
    for (size_t i = steps.size(); i-- > 0;) {
      Error step(ErrorKind::invalid, steps[i]);
      cause = cause ? std::move(step).because(*std::move(cause)) : std::move(step);
    }
    Error error(ErrorKind::invalid, fmt::format("{} is part of a dependency cycle", builder_.contents->text(knot[0])));
    if (cause) error = std::move(error).because(*std::move(cause));
    if (builder_.is_object(knot[0])) error = std::move(error).at(builder_.position(knot[0]));
    builder_.contents->add_problem(Severity::error, std::move(error).next("remove one of these dependencies"), knot[0]);
  }

  // Takes the nodes in an order that the hard needs allow. If only nodes with soft needs are left, the one with the
  // fewest is next, and its open soft needs are dropped.
  void untie(const std::vector<NodeId>& knot, const Components& component) {
    struct Open {
      uint32_t hard = 0;
      uint32_t soft = 0;
      bool done = false;
    };
    std::unordered_map<NodeId, Open> open;
    std::unordered_map<NodeId, std::vector<EdgeId>> needers;  // from each node to the edges that need it
    auto inside = [&](const Edge& edge) { return component[edge.to] == component[edge.from]; };
    for (NodeId node : knot) {
      Open& state = open[node];
      for (EdgeId e : needs_.from(node)) {
        const Edge& edge = builder_.edges[e];
        if (!inside(edge)) continue;
        ++(edge.hard ? state.hard : state.soft);
        needers[edge.to].push_back(e);
      }
    }
    using Entry = std::pair<uint32_t, NodeId>;  // soft needs left, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    auto offer = [&](NodeId node) {
      const Open& state = open.at(node);
      if (!state.done && state.hard == 0) next.emplace(state.soft, node);
    };
    for (NodeId node : knot) offer(node);
    while (!next.empty()) {
      auto [soft, node] = next.top();
      next.pop();
      Open& state = open.at(node);
      if (state.done || soft != state.soft) continue;
      state.done = true;
      for (EdgeId e : needs_.from(node))
        if (inside(builder_.edges[e]) && !open.at(builder_.edges[e].to).done) gone_[e] = true;
      for (EdgeId e : needers[node]) {
        const Edge& edge = builder_.edges[e];
        if (gone_[e]) continue;
        --(edge.hard ? open.at(edge.from).hard : open.at(edge.from).soft);
        offer(edge.from);
      }
    }
  }

  GraphBuilder& builder_;
  plan::Adjacency<EdgeId> needs_;
  plan::IdVector<EdgeId, bool> gone_;
};

}  // namespace

void resolve_loops(GraphBuilder& builder) { Loops(builder).run(); }

}  // namespace fairlead::graph

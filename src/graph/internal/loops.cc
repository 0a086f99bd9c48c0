#include "graph/internal/loops.h"

#include <queue>

#include "plan/adjacency.h"

namespace fairlead::graph {
namespace {

constexpr size_t kMostLoops = 20;

// Maps each node to the numbers of the edges that start there.
plan::Adjacency needs_by_node(const GraphBuilder& builder) {
  plan::Adjacency links(builder.contents->nodes.size());
  for (const Edge& edge : builder.edges) links.count(edge.from);
  links.lay_out();
  for (uint32_t e = 0; e < builder.edges.size(); ++e) links.add(builder.edges[e].from, e);
  return links;
}

std::vector<uint32_t> components_of(const GraphBuilder& builder, bool hard_only) {
  plan::Adjacency links(builder.contents->nodes.size());
  for (const Edge& edge : builder.edges)
    if (edge.hard || !hard_only) links.count(edge.from);
  links.lay_out();
  for (const Edge& edge : builder.edges)
    if (edge.hard || !hard_only) links.add(edge.from, edge.to);
  return plan::components(links);
}

// Returns the nodes of every component that has more than one.
std::vector<std::vector<uint32_t>> knots(const std::vector<uint32_t>& component) {
  std::vector<uint32_t> sizes;
  for (uint32_t c : component) {
    if (sizes.size() <= c) sizes.resize(c + 1);
    ++sizes[c];
  }
  std::vector<uint32_t> place(sizes.size(), kNone);
  std::vector<std::vector<uint32_t>> result;
  for (uint32_t node = 0; node < component.size(); ++node) {
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
    std::vector<uint32_t> hard = components_of(builder_, true);
    std::vector<std::vector<uint32_t>> hard_knots = knots(hard);
    for (size_t i = 0; i < std::min(hard_knots.size(), kMostLoops); ++i) report(hard_knots[i], hard);
    // While hard needs form a loop, there is no order that soft needs could fit into.
    if (!hard_knots.empty()) return;
    std::vector<uint32_t> all = components_of(builder_, false);
    for (const std::vector<uint32_t>& knot : knots(all)) untie(knot, all);
    std::vector<Edge> kept;
    for (size_t e = 0; e < builder_.edges.size(); ++e)
      if (!gone_[e]) kept.push_back(builder_.edges[e]);
    if (kept.size() != builder_.edges.size()) builder_.edges = std::move(kept);
  }

 private:
  // Returns the edges of the shortest loop of hard needs through `start`.
  std::vector<uint32_t> loop_from(uint32_t start, const std::vector<uint32_t>& component) const {
    std::unordered_map<uint32_t, uint32_t> came_by;  // from each node to the edge that reached it
    std::queue<uint32_t> open({start});
    while (!open.empty()) {
      uint32_t node = open.front();
      open.pop();
      for (uint32_t e : needs_.from(node)) {
        const Edge& edge = builder_.edges[e];
        if (!edge.hard || component[edge.to] != component[start] || !came_by.emplace(edge.to, e).second) continue;
        if (edge.to != start) {
          open.push(edge.to);
          continue;
        }
        std::vector<uint32_t> loop;
        uint32_t at = start;
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

  std::string named(uint32_t node) const {
    std::string text = builder_.contents->text(node);
    std::string where = node < builder_.object_count() ? builder_.position(node) : "";
    return where.empty() ? text : fmt::format("{} ({})", text, where);
  }

  void report(const std::vector<uint32_t>& knot, const std::vector<uint32_t>& component) {
    std::vector<std::string> steps;
    // A group stands for its members, so the path through it is reported as one step.
    uint32_t from = kNone;
    for (uint32_t e : loop_from(knot[0], component)) {
      const Edge& edge = builder_.edges[e];
      if (from == kNone) from = edge.from;
      if (builder_.contents->nodes[edge.to].kind == Node::Kind::all_of) continue;
      steps.push_back(fmt::format("{} needs {}{}: {}", named(from), builder_.contents->text(edge.to),
                                  edge.level == Level::ready ? " to be ready" : "", *edge.reason));
      from = kNone;
    }
    std::optional<Error> cause;
    for (size_t i = steps.size(); i-- > 0;) {
      Error step(ErrorKind::invalid, steps[i]);
      cause = cause ? std::move(step).because(*std::move(cause)) : std::move(step);
    }
    Error error(ErrorKind::invalid, fmt::format("{} is part of a dependency cycle", builder_.contents->text(knot[0])));
    if (cause) error = std::move(error).because(*std::move(cause));
    if (knot[0] < builder_.object_count()) error = std::move(error).at(builder_.position(knot[0]));
    builder_.contents->add_problem(Severity::error, std::move(error).next("remove one of these dependencies"), knot[0]);
  }

  // Takes the nodes in an order that the hard needs allow. If only nodes with soft needs are left, the one with the
  // fewest is next, and its open soft needs are dropped.
  void untie(const std::vector<uint32_t>& knot, const std::vector<uint32_t>& component) {
    struct Open {
      uint32_t hard = 0;
      uint32_t soft = 0;
      bool done = false;
    };
    std::unordered_map<uint32_t, Open> open;
    std::unordered_map<uint32_t, std::vector<uint32_t>> needers;  // from each node to the edges that need it
    auto inside = [&](const Edge& edge) { return component[edge.to] == component[edge.from]; };
    for (uint32_t node : knot) {
      Open& state = open[node];
      for (uint32_t e : needs_.from(node)) {
        const Edge& edge = builder_.edges[e];
        if (!inside(edge)) continue;
        ++(edge.hard ? state.hard : state.soft);
        needers[edge.to].push_back(e);
      }
    }
    using Entry = std::pair<uint32_t, uint32_t>;  // soft needs left, node
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    auto offer = [&](uint32_t node) {
      const Open& state = open.at(node);
      if (!state.done && state.hard == 0) next.emplace(state.soft, node);
    };
    for (uint32_t node : knot) offer(node);
    while (!next.empty()) {
      auto [soft, node] = next.top();
      next.pop();
      Open& state = open.at(node);
      if (state.done || soft != state.soft) continue;
      state.done = true;
      for (uint32_t e : needs_.from(node))
        if (inside(builder_.edges[e]) && !open.at(builder_.edges[e].to).done) gone_[e] = true;
      for (uint32_t e : needers[node]) {
        const Edge& edge = builder_.edges[e];
        if (gone_[e]) continue;
        --(edge.hard ? open.at(edge.from).hard : open.at(edge.from).soft);
        offer(edge.from);
      }
    }
  }

  GraphBuilder& builder_;
  plan::Adjacency needs_;
  std::vector<bool> gone_;
};

}  // namespace

void resolve_loops(GraphBuilder& builder) { Loops(builder).run(); }

}  // namespace fairlead::graph

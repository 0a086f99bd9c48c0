#include "graph/loops.h"

#include <queue>

namespace fairlead::graph {
namespace {

constexpr size_t kMostLoops = 20;

// The needs of each node, as numbers of edges.
Links needs_by_node(const Draft& draft) {
  Links links(draft.contents->nodes.size());
  for (const Edge& edge : draft.edges) links.count(edge.from);
  links.lay_out();
  for (uint32_t e = 0; e < draft.edges.size(); ++e) links.add(draft.edges[e].from, e);
  return links;
}

std::vector<uint32_t> components_of(const Draft& draft, bool hard_only) {
  Links links(draft.contents->nodes.size());
  for (const Edge& edge : draft.edges)
    if (edge.hard || !hard_only) links.count(edge.from);
  links.lay_out();
  for (const Edge& edge : draft.edges)
    if (edge.hard || !hard_only) links.add(edge.from, edge.to);
  return components(links);
}

// Members of every component that has more than one.
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
  explicit Loops(Draft& draft) : draft_(draft), needs_(needs_by_node(draft)), gone_(draft.edges.size()) {}

  void run() {
    std::vector<uint32_t> hard = components_of(draft_, true);
    std::vector<std::vector<uint32_t>> hard_knots = knots(hard);
    for (size_t i = 0; i < std::min(hard_knots.size(), kMostLoops); ++i) report(hard_knots[i], hard);
    // Without an order of the hard needs there is none to fit the soft ones into.
    if (!hard_knots.empty()) return;
    std::vector<uint32_t> all = components_of(draft_, false);
    for (const std::vector<uint32_t>& knot : knots(all)) untie(knot, all);
    std::vector<Edge> kept;
    for (size_t e = 0; e < draft_.edges.size(); ++e)
      if (!gone_[e]) kept.push_back(draft_.edges[e]);
    if (kept.size() != draft_.edges.size()) draft_.edges = std::move(kept);
  }

 private:
  // The shortest way from the first member back to itself.
  std::vector<uint32_t> loop_from(uint32_t start, const std::vector<uint32_t>& component) const {
    std::unordered_map<uint32_t, uint32_t> came_by;  // the edge
    std::queue<uint32_t> open({start});
    while (!open.empty()) {
      uint32_t node = open.front();
      open.pop();
      for (uint32_t e : needs_.from(node)) {
        const Edge& edge = draft_.edges[e];
        if (!edge.hard || component[edge.to] != component[start] || !came_by.emplace(edge.to, e).second) continue;
        if (edge.to != start) {
          open.push(edge.to);
          continue;
        }
        std::vector<uint32_t> loop;
        uint32_t at = start;
        do {
          loop.push_back(came_by.at(at));
          at = draft_.edges[loop.back()].from;
        } while (at != start);
        std::ranges::reverse(loop);
        return loop;
      }
    }
    return {};
  }

  std::string named(uint32_t node) const {
    std::string text = draft_.contents->text(node);
    std::string where = node < draft_.object_count() ? draft_.position(node) : "";
    return where.empty() ? text : fmt::format("{} ({})", text, where);
  }

  void report(const std::vector<uint32_t>& knot, const std::vector<uint32_t>& component) {
    std::vector<std::string> steps;
    // A group stands for what it holds: the way through it is told as one step.
    uint32_t from = kNone;
    for (uint32_t e : loop_from(knot[0], component)) {
      const Edge& edge = draft_.edges[e];
      if (from == kNone) from = edge.from;
      if (draft_.contents->nodes[edge.to].kind == Node::Kind::all_of) continue;
      steps.push_back(fmt::format("{} needs {}{}: {}", named(from), draft_.contents->text(edge.to),
                                  edge.level == Level::ready ? " to be ready" : "", *edge.reason));
      from = kNone;
    }
    std::optional<Error> cause;
    for (size_t i = steps.size(); i-- > 0;) {
      Error step(ErrorKind::invalid, steps[i]);
      cause = cause ? std::move(step).because(*std::move(cause)) : std::move(step);
    }
    Error error(ErrorKind::invalid, fmt::format("{} needs itself, in a loop", draft_.contents->text(knot[0])));
    if (cause) error = std::move(error).because(*std::move(cause));
    if (knot[0] < draft_.object_count()) error = std::move(error).at(draft_.position(knot[0]));
    draft_.contents->add_problem(Severity::error, std::move(error).next("take one of these needs away"), knot[0]);
  }

  // Takes members in an order that the hard needs allow. When only nodes with soft needs are left, the one with the
  // fewest goes next, without them.
  void untie(const std::vector<uint32_t>& knot, const std::vector<uint32_t>& component) {
    struct Open {
      uint32_t hard = 0;
      uint32_t soft = 0;
      bool done = false;
    };
    std::unordered_map<uint32_t, Open> open;
    std::unordered_map<uint32_t, std::vector<uint32_t>> needers;  // edges
    auto inside = [&](const Edge& edge) { return component[edge.to] == component[edge.from]; };
    for (uint32_t node : knot) {
      Open& state = open[node];
      for (uint32_t e : needs_.from(node)) {
        const Edge& edge = draft_.edges[e];
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
        if (inside(draft_.edges[e]) && !open.at(draft_.edges[e].to).done) gone_[e] = true;
      for (uint32_t e : needers[node]) {
        const Edge& edge = draft_.edges[e];
        if (gone_[e]) continue;
        --(edge.hard ? open.at(edge.from).hard : open.at(edge.from).soft);
        offer(edge.from);
      }
    }
  }

  Draft& draft_;
  Links needs_;
  std::vector<bool> gone_;
};

}  // namespace

void resolve_loops(Draft& draft) { Loops(draft).run(); }

}  // namespace fairlead::graph

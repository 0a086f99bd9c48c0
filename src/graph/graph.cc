#include "graph/graph.h"

#include "graph/internal/contents.h"

namespace fairlead::graph {

std::string_view name_of(Level level) { return level == Level::ready ? "ready" : "stored"; }

std::string Guard::text() const {
  switch (kind) {
    case Kind::validating_webhook:
    case Kind::mutating_webhook: return fmt::format("webhook {} ({})", name, configuration.text());
    case Kind::validating_policy:
    case Kind::mutating_policy: return fmt::format("policy {} ({})", name, configuration.text());
    case Kind::conversion: return fmt::format("conversion of {}", name);
    case Kind::api_service: return fmt::format("APIService {}", name);
  }
  return name;
}

std::string Contents::text(NodeId node) const {
  uint32_t index = nodes[node].index;
  switch (nodes[node].kind) {
    case Node::Kind::object: return keys[index].text();
    case Node::Kind::guard: return guards[nodes[node].guard()].text();
    case Node::Kind::wave:
    case Node::Kind::all_of: return names[index];
    case Node::Kind::outside: return outsides[index].text();
  }
  return {};
}

Graph::Graph(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

size_t Graph::object_count() const { return contents_->object_count; }
const plan::IdVector<NodeId, Node>& Graph::nodes() const { return contents_->nodes; }
std::string Graph::text(NodeId node) const { return contents_->text(node); }

const object::Key& Graph::key(NodeId node) const {
  static const object::Key kNothing;
  const Node& n = contents_->nodes[node];
  if (n.kind == Node::Kind::object) return contents_->keys[n.index];
  return n.kind == Node::Kind::outside ? contents_->outsides[n.index] : kNothing;
}

std::span<const Need> Graph::needs_of(NodeId node) const {
  uint32_t start = contents_->need_starts[node.index()];
  return std::span(contents_->needs).subspan(start, contents_->need_starts[node.index() + 1] - start);
}

const plan::IdVector<GuardId, Guard>& Graph::guards() const { return contents_->guards; }
NodeId Graph::node_of_guard(GuardId guard) const { return NodeId(contents_->object_count + guard.index()); }
std::span<const GuardMatch> Graph::guards_of(NodeId object) const {
  return contents_->match_set(contents_->guard_sets[object]);
}
std::span<const GuardMatch> Graph::matches_of(NodeId object) const { return contents_->matches_of(object); }
const std::vector<Exemption>& Graph::exemptions() const { return contents_->exemptions; }
bool Graph::is_left_out(NodeId object) const { return contents_->left_out[object]; }
const std::vector<Problem>& Graph::problems() const { return contents_->problems; }

bool Graph::has_errors() const {
  return std::ranges::any_of(contents_->problems, [](const Problem& p) { return p.severity == Severity::error; });
}

}  // namespace fairlead::graph

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

std::string Contents::text(uint32_t node) const {
  uint32_t index = nodes[node].index;
  switch (nodes[node].kind) {
    case Node::Kind::object: return keys[index].text();
    case Node::Kind::guard: return guards[index].text();
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
const std::vector<Node>& Graph::nodes() const { return contents_->nodes; }
std::string Graph::text(uint32_t node) const { return contents_->text(node); }

const object::Key& Graph::key(uint32_t node) const {
  static const object::Key kNothing;
  const Node& n = contents_->nodes[node];
  if (n.kind == Node::Kind::object) return contents_->keys[n.index];
  return n.kind == Node::Kind::outside ? contents_->outsides[n.index] : kNothing;
}

std::span<const Need> Graph::needs_of(uint32_t node) const {
  const std::vector<uint32_t>& starts = contents_->need_starts;
  return std::span(contents_->needs).subspan(starts[node], starts[node + 1] - starts[node]);
}

const std::vector<Guard>& Graph::guards() const { return contents_->guards; }
uint32_t Graph::node_of_guard(uint32_t guard) const { return static_cast<uint32_t>(contents_->object_count) + guard; }
std::span<const GuardMatch> Graph::guards_of(uint32_t object) const {
  return contents_->match_set(contents_->guard_sets[object]);
}
std::span<const GuardMatch> Graph::matches_of(uint32_t object) const { return contents_->matches_of(object); }
const std::vector<Exemption>& Graph::exemptions() const { return contents_->exemptions; }
bool Graph::is_left_out(uint32_t object) const { return contents_->left_out[object]; }
const std::vector<Problem>& Graph::problems() const { return contents_->problems; }

bool Graph::has_errors() const {
  return std::ranges::any_of(contents_->problems, [](const Problem& p) { return p.severity == Severity::error; });
}

}  // namespace fairlead::graph

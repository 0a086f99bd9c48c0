#include "rollout/internal/journal_details.h"

#include "journal/ending_details.h"
#include "journal/graph_details.h"

namespace fairlead::rollout {
namespace {

using State = ObjectEnding::State;

std::string_view type_of(graph::Node::Kind kind) {
  switch (kind) {
    case graph::Node::Kind::object: return "object";
    case graph::Node::Kind::guard: return "guard";
    case graph::Node::Kind::wave: return "wave";
    case graph::Node::Kind::all_of: return "group";
    case graph::Node::Kind::outside: return "outside";
  }
  return "";
}

// True if no other event says what became of the object.
bool is_silent(State state) {
  return state == State::not_sent || state == State::blocked || state == State::unchecked || state == State::left_out;
}

}  // namespace

Json graph_details(const graph::Graph& graph, const manifest::Bundle& bundle, const Secrets& secrets) {
  journal::GraphDetails details(secrets);
  for (graph::NodeId node : graph.nodes().ids()) {
    if (graph.objects().contains(node))
      details.add_object(graph.key(node), bundle.objects[node.index()].source().text());
    else details.add_other(type_of(graph.nodes()[node].kind), graph.text(node));
  }
  for (graph::NodeId node : graph.nodes().ids())
    for (const graph::Need& need : graph.needs_of(node))
      details.add_need(node, need.target,
                       need.level == graph::Level::stored ? journal::NeedLevel::stored : journal::NeedLevel::ready,
                       need.reason);
  return std::move(details).json();
}

Json ending_details(const Ending& ending, const Secrets& secrets) {
  journal::EndingDetails details(secrets);
  details.set_requests(ending.requests);
  for (const PathStep& step : ending.critical_path) details.add_step(step.text, step.reason, step.from, step.to);
  for (const Cause& cause : ending.causes) details.add_error(cause);
  for (const ObjectEnding& object : ending.objects)
    if (is_silent(object.state)) details.add_outcome(object.key, name_of(object.state));
  return std::move(details).json();
}

}  // namespace fairlead::rollout

#include "timeline/model.h"

#include <algorithm>
#include <array>

namespace fairlead::timeline {
namespace {

using journal::Event;
using journal::EventKind;

constexpr std::array<std::pair<std::string_view, Node::Type>, 4> kTypes = {{{"guard", Node::Type::guard},
                                                                            {"wave", Node::Type::wave},
                                                                            {"group", Node::Type::group},
                                                                            {"outside", Node::Type::outside}}};
// The last rung of a guard that was proved.
constexpr std::string_view kLastRung = "answering";

Node::Type type_of(std::string_view name) {
  auto found = std::ranges::find(kTypes, name, &std::pair<std::string_view, Node::Type>::first);
  return found == kTypes.end() ? Node::Type::outside : found->second;
}

std::optional<Duration> duration_of(const Json& seconds) {
  double value = seconds.if_double() ? *seconds.if_double() : double(seconds.int_or(-1));
  if (!(value >= 0 && value < 1e8)) return std::nullopt;
  return std::chrono::round<Duration>(std::chrono::duration<double>(value));
}

object::Key key_of(const Json& words) {
  return {.group = std::string(words.item(0).string_or("")),
          .kind = std::string(words.item(1).string_or("")),
          .ns = std::string(words.item(2).string_or("")),
          .name = std::string(words.item(3).string_or(""))};
}

// Returns a number below `limit` in an array.
std::optional<size_t> number_in(const Json& words, size_t index, size_t limit) {
  int64_t number = words.item(index).int_or(-1);
  if (number < 0 || uint64_t(number) >= limit) return std::nullopt;
  return size_t(number);
}

std::string text_of(const Event& event) {
  if (!event.error) return event.text;
  std::string text = event.text.empty() ? "" : event.text + "\n";
  text += event.error->what();
  for (const Error* cause = event.error->cause(); cause; cause = cause->cause()) text += "\nbecause " + cause->what();
  if (!event.error->next().empty()) text += "\nnext " + event.error->next();
  return text;
}

}  // namespace

size_t Model::object_count() const { return size_t(std::ranges::count(nodes_, Node::Type::object, &Node::type)); }

void Model::read(const Event& event) {
  end_ = std::max(end_, event.at);
  if (event.kind == EventKind::started && moments_.empty() && nodes_.empty()) read_start(event.details);
  if (event.kind == EventKind::graph) {
    graph_at_ = event.at;
    return read_graph(event.details);
  }
  if (event.kind == EventKind::ended) return read_end(event);
  const std::string* guard = event.details["guard"].if_string();
  if (!event.key.kind.empty()) read_about(object_of(event.key, event.source), event);
  else if (guard) read_about(other_of(Node::Type::guard, *guard), event);
  else moments_.push_back({.at = event.at, .kind = event.kind, .state = event.state, .text = text_of(event)});
}

void Model::read_start(const Json& details) {
  command_ = details["command"].string_or("apply");
  bundle_ = details["bundle"].string_or("");
  time_ = details["time"].string_or("");
}

NodeId Model::object_of(const object::Key& key, const std::string& source) {
  auto [found, is_new] = objects_.emplace(key, NodeId(nodes_.size()));
  if (is_new) {
    nodes_.add({.key = key, .source = source});
    texts_.emplace(key.text(), found->second);
  }
  return found->second;
}

NodeId Model::other_of(Node::Type type, const std::string& text) {
  auto [found, is_new] = texts_.emplace(text, NodeId(nodes_.size()));
  if (is_new) nodes_.add({.type = type, .text = text});
  return found->second;
}

std::optional<NodeId> Model::find(const std::string& text) const {
  auto found = texts_.find(text);
  return found == texts_.end() ? std::nullopt : std::optional(found->second);
}

// A run that prunes has two graphs, and one that was prepared again has the same graph twice: the numbers of each graph
// are its own, and the newest needs of a node count.
void Model::read_graph(const Json& details) {
  // The nodes of the model, by their numbers in this graph.
  plan::IdVector<plan::NodeId, NodeId> ids;
  for (const Json& words : details["objects"].items())
    ids.add(object_of(key_of(words), std::string(words.item(4).string_or(""))));
  for (const Json& words : details["others"].items()) {
    Node::Type type = type_of(words.item(0).string_or(""));
    std::string text(words.item(1).string_or(""));
    // Groups have no names of their own.
    if (type == Node::Type::group) {
      ids.add(nodes_.add({.type = type, .text = std::move(text)}));
    } else {
      ids.add(other_of(type, text));
    }
  }
  for (NodeId node : ids) nodes_[node].needs.clear();
  const Json::Array& reasons = details["reasons"].items();
  for (const Json& words : details["needs"].items()) {
    auto node = number_in(words, 0, ids.size()), target = number_in(words, 1, ids.size());
    auto reason = number_in(words, 2, reasons.size()), level = number_in(words, 3, 3);
    if (node && target && reason && level)
      nodes_[ids[plan::NodeId(*node)]].needs.push_back({.target = ids[plan::NodeId(*target)],
                                                        .reason = std::string(reasons[*reason].string_or("")),
                                                        .level = uint8_t(*level)});
  }
}

void Model::read_about(NodeId id, const Event& event) {
  Node& node = nodes_[id];
  if (std::optional<Duration> sent = duration_of(event.details["sent"]); sent && !node.sent) node.sent = sent;
  auto settle = [&](std::string_view state) {
    node.state = state;
    node.settled = event.at;
  };
  switch (event.kind) {
    case EventKind::stored:
      node.stored = event.at;
      node.effect = event.state;
      node.state = "stored";
      // The journal says no more of an object that was as it should be.
      if (event.state == "unchanged") settle("ready");
      break;
    case EventKind::parked:
      if (!node.refused) node.refused = event.at;
      node.state = "retrying";
      break;
    case EventKind::ready: settle("ready"); break;
    case EventKind::failed: settle("failed"); break;
    case EventKind::removed: settle("deleted"); break;
    case EventKind::progress:
      if (event.state == "leaving") {
        if (!node.stored) node.stored = event.at;
        node.state = "deleting";
      } else if (node.effect == "unchanged" && node.settled) {
        settle("ready");
      }
      break;
    case EventKind::guard: read_rung(node, event); break;
    default: break;
  }
  bool needs_send = node.stored || node.refused;
  if (needs_send && !node.sent) node.sent = node.refused ? *node.refused : *node.stored;
  node.moments.push_back({.at = event.at, .kind = event.kind, .state = event.state, .text = text_of(event)});
}

void Model::read_rung(Node& node, const Event& event) {
  if (!node.sent) node.sent = event.at;
  node.state = event.state;
  node.settled = event.state == kLastRung ? std::optional(event.at) : std::nullopt;
}

void Model::read_end(const Event& event) {
  outcome_ = event.state;
  // A pipeline has several runs in one journal.
  requests_ += uint64_t(std::max<int64_t>(event.details["requests"].int_or(0), 0));
  for (const auto& [outcome, keys] : event.details["outcomes"].members())
    for (const Json& words : keys.items()) {
      Node& node = nodes_[object_of(key_of(words), "")];
      if (!node.settled) node.state = outcome;
    }
  read_path(event.details["criticalPath"]);
  read_failures(event.details["errors"]);
}

// The times of the path count from the moment at which everything was known that the run needs to know. A node of the
// path tells when that was: both say when it was settled.
void Model::read_path(const Json& path) {
  std::optional<Duration> begun;
  for (const Json& words : path.items()) {
    Step step{.what = std::string(words["what"].string_or("")), .reason = std::string(words["reason"].string_or(""))};
    step.from = duration_of(words["from"]).value_or(Duration::zero());
    step.to = duration_of(words["to"]).value_or(Duration::zero());
    step.node = find(step.what);
    if (!begun && step.node && nodes_[*step.node].settled) begun = *nodes_[*step.node].settled - step.to;
    path_.push_back(std::move(step));
  }
  Duration offset = std::max(begun.value_or(graph_at_), Duration::zero());
  for (Step& step : path_) {
    step.from += offset;
    step.to += offset;
    end_ = std::max(end_, step.to);
  }
}

void Model::read_failures(const Json& errors) {
  for (const Json& words : errors.items()) {
    Failure failure{.what = std::string(words["what"].string_or("")),
                    .from = std::string(words["from"].string_or("")),
                    .next = std::string(words["next"].string_or(""))};
    for (const Json& cause : words["because"].items()) failure.because.emplace_back(cause.string_or(""));
    for (const Json& blocked : words["blocks"].items()) {
      if (auto node = find(std::string(blocked.string_or("")))) failure.blocks.push_back(*node);
      else ++failure.unknown;
    }
    failures_.push_back(std::move(failure));
  }
}

}  // namespace fairlead::timeline

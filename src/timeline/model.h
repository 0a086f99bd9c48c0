// What a journal says about a run: its nodes (objects, guards and others), what they need, and when what became of
// them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "journal/journal.h"
#include "object/key.h"
#include "plan/id.h"

namespace fairlead::timeline {

// The number of a node of the model. Each graph of the journal has numbers of its own (plan::NodeId).
using NodeId = plan::Id<struct ModelNodeTag>;

struct Need {
  NodeId target;
  std::string reason;
  // As in journal::NeedLevel.
  uint8_t level = 0;
};

// An event, as far as the page shows it.
struct Moment {
  Duration at{};
  journal::EventKind kind = journal::EventKind::note;
  std::string state;
  std::string text;
};

struct Node {
  enum class Type : uint8_t { object, guard, wave, group, outside };
  Type type = Type::object;
  // For objects.
  object::Key key;
  std::string source;
  // For all other types.
  std::string text;
  // "waiting", "retrying", "stored", "ready", "failed", "deleting", "deleted", the rung of a guard, or an outcome of
  // the run's last event such as "blocked".
  std::string state = "waiting";
  // What storing the object did: "created", "changed" or "unchanged".
  std::string effect;
  std::optional<Duration> sent;
  // When the API server first did not accept it.
  std::optional<Duration> refused;
  std::optional<Duration> stored;
  // When it was ready, deleted or failed.
  std::optional<Duration> settled;
  std::vector<Need> needs;
  std::vector<Moment> moments;
};

// A step of the critical path. `node` is set if the journal has a node of that name.
struct Step {
  std::string what;
  std::string reason;
  Duration from{};
  Duration to{};
  std::optional<NodeId> node;
};

struct Failure {
  std::string what;
  std::vector<std::string> because;
  std::string from;
  std::string next;
  std::vector<NodeId> blocks;
  // Blocked objects that the journal does not know.
  size_t unknown = 0;
};

class Model {
 public:
  void read(const journal::Event& event);
  void remark(std::string text) { remarks_.push_back(std::move(text)); }

  const std::string& command() const { return command_; }
  const std::string& bundle() const { return bundle_; }
  const std::string& time() const { return time_; }
  // Empty if the journal has no end.
  const std::string& outcome() const { return outcome_; }
  // The time of the last event.
  Duration end() const { return end_; }
  uint64_t requests() const { return requests_; }
  size_t object_count() const;
  const plan::IdVector<NodeId, Node>& nodes() const { return nodes_; }
  const std::vector<Step>& path() const { return path_; }
  const std::vector<Failure>& failures() const { return failures_; }
  // Events that are not about one node.
  const std::vector<Moment>& moments() const { return moments_; }
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void read_start(const Json& details);
  void read_graph(const Json& details);
  void read_end(const journal::Event& event);
  void read_path(const Json& path);
  void read_failures(const Json& errors);
  void read_about(NodeId node, const journal::Event& event);
  void read_rung(Node& node, const journal::Event& event);
  NodeId object_of(const object::Key& key, const std::string& source);
  NodeId other_of(Node::Type type, const std::string& text);
  std::optional<NodeId> find(const std::string& text) const;

  std::string command_ = "apply";
  std::string bundle_;
  std::string time_;
  std::string outcome_;
  Duration end_{};
  uint64_t requests_ = 0;
  // When the critical path began to be counted, if no step of it says so.
  Duration graph_at_{};
  plan::IdVector<NodeId, Node> nodes_;
  std::vector<Step> path_;
  std::vector<Failure> failures_;
  std::vector<Moment> moments_;
  std::vector<std::string> remarks_;
  std::unordered_map<object::Key, NodeId> objects_;
  // Nodes by the text that events and errors use: "Deployment team-a/web" or "webhook v.example.com (…)".
  std::unordered_map<std::string, NodeId> texts_;
};

}  // namespace fairlead::timeline

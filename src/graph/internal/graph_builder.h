// Collects the objects, nodes and needs of a graph while it is being built. The needs are not sorted yet.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/internal/contents.h"
#include "graph/internal/kinds.h"

namespace fairlead::graph {

// A key whose strings belong to another object, which must outlive it.
struct KeyView {
  std::string_view group;
  std::string_view kind;
  std::string_view ns;
  std::string_view name;

  bool operator==(const KeyView&) const = default;
  struct Hash {
    size_t operator()(const KeyView& key) const noexcept;
  };
};
inline KeyView view(const object::Key& key) {
  return {.group = key.group, .kind = key.kind, .ns = key.ns, .name = key.name};
}

// The API server gives every namespace this label, with its name.
inline constexpr std::string_view kNamespaceNameLabel = "kubernetes.io/metadata.name";

// A need, before the needs are sorted by node.
struct Edge {
  NodeId from;
  NodeId to;
  const std::string* reason = nullptr;
  Level level = Level::stored;
  bool hard = false;
};

using EdgeId = plan::Id<Edge>;

// Adds sets of guard matches to Contents, each distinct set once.
class MatchSets {
 public:
  explicit MatchSets(Contents& contents) : contents_(contents) {}
  // Returns the number of the set with these matches, which must be sorted by guard. The empty set has the number 0.
  uint32_t add(const std::vector<GuardMatch>& matches);

 private:
  Contents& contents_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

class GraphBuilder {
 public:
  GraphBuilder(const manifest::Bundle& bundle, const ClusterState& cluster, const Options& options);

  const manifest::Bundle& bundle;
  const ClusterState& cluster;
  const Options& options;
  Kinds kinds;
  plan::IdVector<NodeId, uint32_t> kind_of;  // index in `kinds`, by object
  plan::IdVector<EdgeId, Edge> edges;
  // The order that users ask for, in steps (waves.h). `step_of` is the step of each object, or kNone if it has none.
  struct Step {
    std::string text;
    std::string reason;  // why objects of later steps wait for this one
  };
  std::vector<Step> steps;
  plan::IdVector<NodeId, uint32_t> step_of;
  std::unique_ptr<Contents> contents = std::make_unique<Contents>();
  MatchSets sets{*contents};

  size_t object_count() const { return bundle.objects.size(); }
  plan::IdRange<NodeId> objects() const { return plan::IdRange<NodeId>(bundle.objects.size()); }
  bool is_object(NodeId node) const { return objects().contains(node); }
  const Json& value(NodeId object) const { return bundle.objects[object.index()].value(); }
  const object::Key& key(NodeId object) const { return contents->keys[object.index()]; }
  const Kind& kind(NodeId object) const { return kinds[kind_of[object]]; }
  Family family(NodeId object) const { return kind(object).family; }
  // A JSON object of strings, or null if there are none.
  const Json& labels(NodeId object) const { return *labels_[object]; }
  const Json& annotations(NodeId object) const { return *annotations_[object]; }
  std::string position(NodeId object) const { return bundle.objects[object.index()].source().text(); }

  // Returns the object of the bundle with this key, or kNoNode.
  NodeId find(const KeyView& key) const;
  // Returns the Secret of the bundle. If there is none, returns the object that creates it (a Certificate, an
  // ExternalSecret or a SealedSecret), or kNoNode.
  NodeId find_secret(std::string_view ns, std::string_view name) const;

  // Returns the labels that a namespace will have once the bundle is rolled out. Returns nothing if the namespace is
  // neither in the bundle nor known in the cluster.
  std::optional<Json> namespace_labels(std::string_view ns) const;

  // Adds a need. Does nothing if `to` is kNoNode or equal to `from`.
  void need(NodeId from, NodeId to, Level level, bool hard, std::string_view reason);
  void soft(NodeId from, NodeId to, std::string_view reason) { need(from, to, Level::stored, false, reason); }

  NodeId add_node(Node::Kind kind, uint32_t index);
  NodeId add_named(Node::Kind kind, std::string name);
  // Returns the node of an object that is not in the bundle. Adds the node on the first call for a key.
  NodeId outside(object::Key key);
  NodeId guard_node(GuardId guard) const { return NodeId(object_count() + guard.index()); }

  // For example "ConfigMap team/a" or "ConfigMap team/a and 3 others". Requires at least one object.
  std::string text_of(const std::vector<NodeId>& objects) const;

 private:
  void read_objects();
  void index_objects();
  void index_made_secret(NodeId object);

  // By object. Several passes read them. In a large bundle it would be slow to find them in the metadata in every pass.
  plan::IdVector<NodeId, const Json*> labels_;
  plan::IdVector<NodeId, const Json*> annotations_;
  std::unordered_map<KeyView, NodeId, KeyView::Hash> by_key_;
  std::unordered_map<KeyView, NodeId, KeyView::Hash> secret_makers_;
  std::unordered_map<std::string_view, const Json*> live_namespaces_;
  std::unordered_map<object::Key, NodeId> outsides_;
  const std::string* last_reason_ = nullptr;
};

// Converts ASCII letters to lower case.
std::string lower(std::string_view text);
// Removes white space at both ends.
std::string_view trim(std::string_view text);

}  // namespace fairlead::graph

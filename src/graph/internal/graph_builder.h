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
  uint32_t from = 0;
  uint32_t to = 0;
  const std::string* reason = nullptr;
  Level level = Level::stored;
  bool hard = false;
};

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
  std::vector<uint32_t> kind_of;  // index in `kinds`, by object
  std::vector<Edge> edges;
  // The order that users ask for, in steps (waves.h). `step_of` is the step of each object, or kNone if it has none.
  struct Step {
    std::string text;
    std::string reason;  // why objects of later steps wait for this one
  };
  std::vector<Step> steps;
  std::vector<uint32_t> step_of;
  std::unique_ptr<Contents> contents = std::make_unique<Contents>();
  MatchSets sets{*contents};

  uint32_t object_count() const { return static_cast<uint32_t>(bundle.objects.size()); }
  const Json& value(uint32_t object) const { return bundle.objects[object].value(); }
  const object::Key& key(uint32_t object) const { return contents->keys[object]; }
  const Kind& kind(uint32_t object) const { return kinds[kind_of[object]]; }
  Family family(uint32_t object) const { return kind(object).family; }
  // A JSON object of strings, or null if there are none.
  const Json& labels(uint32_t object) const { return *labels_[object]; }
  const Json& annotations(uint32_t object) const { return *annotations_[object]; }
  std::string position(uint32_t object) const { return bundle.objects[object].source().text(); }

  // Returns the object of the bundle with this key, or kNone.
  uint32_t find(const KeyView& key) const;
  // Returns the Secret of the bundle. If there is none, returns the object that creates it (a Certificate, an
  // ExternalSecret or a SealedSecret), or kNone.
  uint32_t find_secret(std::string_view ns, std::string_view name) const;

  // Returns the labels that a namespace will have once the bundle is rolled out. Returns nothing if the namespace is
  // neither in the bundle nor known in the cluster.
  std::optional<Json> namespace_labels(std::string_view ns) const;

  // Adds a need. Does nothing if `to` is kNone or equal to `from`.
  void need(uint32_t from, uint32_t to, Level level, bool hard, std::string_view reason);
  void soft(uint32_t from, uint32_t to, std::string_view reason) { need(from, to, Level::stored, false, reason); }

  uint32_t add_node(Node::Kind kind, uint32_t index);
  uint32_t add_named(Node::Kind kind, std::string name);
  // Returns the node of an object that is not in the bundle. Adds the node on the first call for a key.
  uint32_t outside(object::Key key);
  uint32_t guard_node(uint32_t guard) const { return object_count() + guard; }

  // For example "ConfigMap team/a" or "ConfigMap team/a and 3 others". Requires at least one object.
  std::string text_of(const std::vector<uint32_t>& objects) const;

 private:
  void read_objects();
  void index_objects();
  void index_made_secret(uint32_t object);

  // By object. Several passes read them. In a large bundle it would be slow to find them in the metadata in every pass.
  std::vector<const Json*> labels_;
  std::vector<const Json*> annotations_;
  std::unordered_map<KeyView, uint32_t, KeyView::Hash> by_key_;
  std::unordered_map<KeyView, uint32_t, KeyView::Hash> secret_makers_;
  std::unordered_map<std::string_view, const Json*> live_namespaces_;
  std::unordered_map<object::Key, uint32_t> outsides_;
  const std::string* last_reason_ = nullptr;
};

// Converts ASCII letters to lower case.
std::string lower(std::string_view text);
// Removes white space at both ends.
std::string_view trim(std::string_view text);

}  // namespace fairlead::graph

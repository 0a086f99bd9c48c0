// The state that the parts of the engine share: the bundle, the plan, and what is known of each object.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/halt.h"
#include "async/signal.h"
#include "graph/graph.h"
#include "inventory/takeover.h"
#include "journal/journal.h"
#include "kube/client.h"
#include "manifest/manifest.h"
#include "readiness/verdict.h"
#include "rollout/core/forecast.h"
#include "rollout/core/options.h"
#include "rollout/core/placing.h"
#include "rollout/core/plan.h"

namespace fairlead::rollout {

// What is known of one object of the bundle.
struct ObjectState {
  enum class Stored { no, created, changed, unchanged };
  Stored stored = Stored::no;
  // When the run began to send the object, and when it was stored.
  TimePoint started{};
  TimePoint stored_at{};
  // As the API server returned them.
  std::string uid;
  uint64_t version = 0;
  // The last verdict on its readiness.
  readiness::Verdict verdict;
  // Why the API server does not accept it at the moment.
  std::optional<kube::Fault> fault;
  // What it last waited for before it was accepted, for people.
  std::string waited_for;
  bool timed_out = false;
  // The run stopped waiting for the answer to its request, so the object may have been stored nevertheless.
  bool unanswered = false;
  bool conflict = false;
  // The run took over fields of the object's former managers, or a dry run would do so.
  bool taken_over = false;
  // In a dry run: the API server could not check it.
  bool unchecked = false;
  // In a dry run: what would happen to it. Null if it would stay as it is.
  std::shared_ptr<Forecast> forecast;
  std::vector<std::string> warnings;
};

std::string_view name_of(ObjectState::Stored stored);

// True if the object is being deleted.
bool is_terminating(const Json& object);

// Returns the key of an object that was read from the cluster. Fails if its apiVersion is invalid.
Result<object::Key> key_of(const Json& object);

// Under which names a run writes.
struct Writer {
  std::string field_manager;
  // The value of the bundle's label; empty if the bundle has no name.
  std::string part_of = {};
  // Other field managers of the same user. This run takes over their fields.
  std::set<std::string, std::less<>> predecessors = {};
};

// The state of one run, which the parts of the engine share. A part changes it only through the methods below: edit()
// for what is known of an object, and stored(), ready() and failed() for what became of a node. The run itself sends
// nothing. The parts that do so have the client. What the references point to must outlive the run.
class Run {
 public:
  // The client tells the time. `version_before` is the newest resourceVersion of the cluster before this run sent
  // anything. `expires` is when the time limit of the whole run passes; TimePoint::max() if there is no limit.
  Run(kube::Client& client, journal::Journal& journal, const Options& options, manifest::Bundle& bundle, Kinds& kinds,
      const graph::ClusterState& cluster, const graph::Graph& graph, Writer writer, uint64_t version_before,
      TimePoint expires);

  const Options& options() const { return options_; }
  const manifest::Bundle& bundle() const { return bundle_; }
  Kinds& kinds() const { return kinds_; }
  // The cluster before anything was sent.
  const graph::ClusterState& cluster() const { return cluster_; }
  const graph::Graph& graph() const { return graph_; }
  Loop& loop() const { return loop_; }
  // The time by the API server's clock.
  WallTime server_now() const { return client_.server_now(); }
  // Secrets of the bundle, which must not be shown.
  const Secrets& secrets() const { return journal_.secrets(); }

  // Notified when the plan or the state of an object has changed.
  Signal& changed() { return changed_; }
  // Ends the run early.
  Halt& halt() { return halt_; }
  const Halt& halt() const { return halt_; }

  // The nodes of the objects of the bundle.
  plan::IdRange<NodeId> objects() const { return plan::IdRange<NodeId>(states_.size()); }
  // True if the node is an object of the bundle, and not a guard or another node of the graph.
  bool is_object(NodeId node) const { return objects().contains(node); }
  const object::Object& object(NodeId node) const { return bundle_.objects[node.index()]; }
  // Returns the object of the bundle with that key.
  std::optional<NodeId> find(const object::Key& key) const;

  const ObjectState& state(NodeId node) const { return states_[node]; }
  // For the parts that find out about an object: the sender, the tracker, and the proofs of guards.
  ObjectState& edit(NodeId node) { return states_[node]; }
  const Plan& plan() const { return plan_; }
  // When a node was settled, and why each failed node failed. Both include nodes that are not objects, such as guards.
  TimePoint settled_at(NodeId node) const { return settled_at_[node]; }
  const std::map<NodeId, Error>& errors() const { return errors_; }

  TimePoint begun() const { return begun_; }
  // When the run began, by the API server's clock.
  WallTime begun_at_server() const { return begun_at_server_; }
  TimePoint expires() const { return expires_; }
  Duration timeout_for(const object::Key& key) const;
  // True if the user chose a time limit for objects of that kind.
  bool has_chosen_timeout(const object::Key& key) const { return chosen_timeout(key).has_value(); }

  const std::string& field_manager() const { return writer_.field_manager; }
  const std::string& part_of() const { return writer_.part_of; }
  // Describes this run as the successor of the objects' former managers.
  inventory::Successor successor() const;

  // Puts the object into its namespace, if that was not done before. Requires that its kind is known. Returns an error
  // if the object names another namespace than the user chose.
  std::optional<Error> place(NodeId node);

  // An object with this resourceVersion or an older one was last written before this run sent anything.
  uint64_t version_before() const { return version_before_; }
  // Returns the object with that key as it was in the cluster before the run; null if it did not exist or was not read.
  const Json* before(const object::Key& key) const;
  const Json* before(NodeId node) const { return before(object(node).key()); }
  // Adds an object to those, or takes it away again. `live` must live until then, or outlive the run.
  void found_before(NodeId node, const Json& live) { before_.insert_or_assign(object(node).key(), &live); }
  void forget_before(NodeId node) { before_.erase(object(node).key()); }
  // Returns the form in the cluster of an object that is there exactly as it would be sent. Null for other objects.
  const Json* unchanged(NodeId node) const { return unchanged_[node]; }
  void found_unchanged(NodeId node, const Json& live) { unchanged_[node] = &live; }
  // True if the object cannot have existed before the run: all objects of its kind were read, and it was not among
  // them.
  bool must_be_new(NodeId node) const;

  // Returns the key of the CRD that defines the object's kind, whether such a CRD exists or not. Requires that the kind
  // is known.
  object::Key definition_of(NodeId node) const;
  // Returns the keys of the objects whose deletion also deletes this one: its Namespace and, if its kind is known, the
  // CRD of that kind, whether such a CRD exists or not.
  std::vector<object::Key> containers_of(NodeId node) const;
  // Returns the Service of the bundle, or else the Service as it was in the cluster; null if neither has it.
  const Json* service(const std::string& ns, const std::string& name) const;

  // Each adds an event to the journal: tell() about a node, note() about the run.
  void add_event(journal::Event event) { journal_.add(std::move(event)); }
  void tell(journal::EventKind kind, NodeId node, std::string state, std::string text, std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  // In a dry run: what the user should know before.
  const std::vector<Concern>& concerns() const { return concerns_; }
  void add_concern(Concern concern) { concerns_.push_back(std::move(concern)); }

  // Returns the nodes that may start now. Each is returned once.
  std::vector<NodeId> take_startable() { return plan_.take_startable(); }
  // Each records what became of a node and notifies `changed`. ready() and failed() have no effect on a settled node.
  void stored(NodeId node);
  void ready(NodeId node);
  void failed(NodeId node, Error error);

 private:
  std::optional<Duration> chosen_timeout(const object::Key& key) const;

  const kube::Client& client_;
  journal::Journal& journal_;
  const Options& options_;
  manifest::Bundle& bundle_;
  Kinds& kinds_;
  const graph::ClusterState& cluster_;
  const graph::Graph& graph_;
  Loop& loop_;
  Signal changed_;
  Halt halt_;
  Plan plan_;
  plan::IdVector<NodeId, ObjectState> states_;
  plan::IdVector<NodeId, const Json*> unchanged_;
  std::unordered_map<object::Key, NodeId> nodes_;
  std::unordered_map<object::Key, const Json*> before_;
  plan::IdVector<NodeId, TimePoint> settled_at_;
  std::map<NodeId, Error> errors_;
  std::vector<Concern> concerns_;
  TimePoint begun_;
  TimePoint expires_;
  WallTime begun_at_server_;
  uint64_t version_before_;
  Writer writer_;
};

}  // namespace fairlead::rollout

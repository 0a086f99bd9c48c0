// The state that the parts of the engine share: the bundle, the plan, and what is known of each object.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "async/cancel.h"
#include "async/scope.h"
#include "graph/graph.h"
#include "inventory/takeover.h"
#include "journal/journal.h"
#include "kube/client.h"
#include "kube/discovery.h"
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

// The state of one run. What the references point to must outlive it.
struct Run {
  Run(kube::Client& client_, kube::Discovery& discovery_, journal::Journal& journal_, const Options& options_,
      manifest::Bundle& bundle_, Kinds& kinds_, const graph::ClusterState& cluster_, const graph::Graph& graph_)
      : client(client_),
        discovery(discovery_),
        journal(journal_),
        options(options_),
        bundle(bundle_),
        kinds(kinds_),
        cluster(cluster_),
        graph(graph_),
        plan(plan_of(graph_)),
        loop(client_.loop()),
        changed(loop),
        states(bundle_.objects.size()),
        unchanged(bundle_.objects.size()),
        settled_at(graph_.nodes().size()),
        begun(loop.now()),
        begun_at_server(client_.server_now()) {
    for (uint32_t node = 0; node < bundle.objects.size(); ++node) nodes.emplace(bundle.objects[node].key(), node);
    for (const auto* list : {&cluster.webhook_configurations, &cluster.policies, &cluster.bindings,
                             &cluster.definitions, &cluster.api_services, &cluster.namespaces})
      for (const Json& there : *list)
        if (Result<object::Key> key = key_of(there)) live.emplace(*std::move(key), &there);
  }

  kube::Client& client;
  kube::Discovery& discovery;
  journal::Journal& journal;
  const Options& options;
  manifest::Bundle& bundle;
  Kinds& kinds;
  // The cluster before anything was sent.
  const graph::ClusterState& cluster;
  const graph::Graph& graph;
  Plan plan;
  Loop& loop;

  // Notified when the plan or the state of an object has changed.
  Signal changed;
  // Cancelling it ends every wait, but no apply: when a run is stopped, applies in flight may end.
  CancelSource waits;
  // Cancelling it ends requests that change something. This happens some time after `waits` was cancelled.
  CancelSource requests;
  bool stopping = false;
  // The time limit of the whole run has passed.
  bool out_of_time = false;

  std::vector<ObjectState> states;
  // For each object that is in the cluster exactly as it would be sent: its form there. Null for the others.
  std::vector<const Json*> unchanged;
  std::unordered_map<object::Key, uint32_t> nodes;
  // The objects that were in the cluster before anything was sent, as far as they were read.
  std::unordered_map<object::Key, const Json*> live;
  // Both include nodes that are not objects, such as guards: when each node was settled, and why each failed node
  // failed.
  std::vector<TimePoint> settled_at;
  std::map<uint32_t, Error> errors;
  TimePoint begun;
  // When the time limit of the whole run passes; TimePoint::max() if there is no limit.
  TimePoint expires = TimePoint::max();
  // When the run began, by the API server's clock.
  WallTime begun_at_server;
  // An object with this resourceVersion or an older one was last written before this run sent anything.
  uint64_t version_before = 0;
  std::string field_manager;
  // The value of the bundle's label; empty if the bundle has no name.
  std::string part_of;
  // Other field managers of the same user. This run takes over their fields.
  std::set<std::string, std::less<>> predecessors;
  // In a dry run: what the user should know before.
  std::vector<Concern> concerns;

  const object::Object& object(uint32_t node) const { return bundle.objects[node]; }
  Duration timeout_for(const object::Key& key) const;
  // True if the user chose a time limit for objects of that kind.
  bool has_chosen_timeout(const object::Key& key) const { return chosen_timeout(key).has_value(); }
  // Returns the object of the bundle with that key.
  std::optional<uint32_t> find(const object::Key& key) const;
  // Puts the object into its namespace, if that was not done before. Requires that its kind is known. Returns an error
  // if the object names another namespace than the user chose.
  std::optional<Error> place(uint32_t node);
  // Describes this run as the successor of the objects' former managers.
  inventory::Successor successor() const;
  // Returns the object as it was in the cluster before the run; null if it did not exist or was not read.
  const Json* before(uint32_t node) const;
  // True if the object cannot have existed before the run: all objects of its kind were read, and it was not among
  // them.
  bool must_be_new(uint32_t node) const;
  // Returns the key of the CRD that defines the object's kind, whether such a CRD exists or not. Requires that the kind
  // is known.
  object::Key definition_of(uint32_t node) const;
  // Returns the keys of the objects whose deletion also deletes this one: its Namespace and, if its kind is known, the
  // CRD of that kind, whether such a CRD exists or not.
  std::vector<object::Key> containers_of(uint32_t node) const;
  // Returns the Service of the bundle, or else the Service as it was in the cluster; null if neither has it.
  const Json* service(const std::string& ns, const std::string& name) const;

  // Both add an event to the journal: tell() about a node, note() about the run.
  void tell(journal::EventKind kind, uint32_t node, std::string state, std::string text,
            std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  // Each records what became of a node and notifies `changed`. ready() and failed() have no effect on a settled node.
  void stored(uint32_t node);
  void ready(uint32_t node);
  void failed(uint32_t node, Error error);

 private:
  std::optional<Duration> chosen_timeout(const object::Key& key) const;
};

}  // namespace fairlead::rollout

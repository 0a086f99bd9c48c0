// What the parts of the engine share: the bundle, the plan, and what is known of each object.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/scope.h"
#include "graph/graph.h"
#include "inventory/takeover.h"
#include "readiness/verdict.h"
#include "rollout/placing.h"
#include "rollout/plan.h"
#include "rollout/rollout.h"

namespace fairlead::rollout {

// One object of the bundle.
struct ObjectState {
  enum class Stored { no, created, changed, unchanged };
  Stored stored = Stored::no;
  // From the plan's word until it was stored, and until it was settled.
  TimePoint started{};
  TimePoint stored_at{};
  // As the API server has it.
  std::string uid;
  uint64_t version = 0;
  // What was last seen of it.
  readiness::Verdict verdict;
  // Why it does not go in at the moment.
  std::optional<kube::Fault> fault;
  // What it waited for last at a gate, for people.
  std::string waited_for;
  bool timed_out = false;
  // The request was given up: it may have been stored all the same.
  bool unanswered = false;
  bool conflict = false;
  // Fields of former managers of the object passed to this run, or would pass in a dry run.
  bool taken_over = false;
  // In a dry run: the API server could not check it.
  bool unchecked = false;
  std::vector<std::string> warnings;
};

std::string_view name_of(ObjectState::Stored stored);

// It is being deleted.
bool is_terminating(const Json& object);

// Of an object that came from the cluster.
Result<object::Key> key_of(const Json& object);

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
  // As it was before anything was sent.
  const graph::ClusterState& cluster;
  const graph::Graph& graph;
  Plan plan;
  Loop& loop;

  // Something about the plan or an object has changed.
  Signal changed;
  // Governs every wait, but no request: a run that is stopped lets what is in flight end.
  CancelSource waits;
  // Governs requests that change something. Cancelled some time after the waits were.
  CancelSource requests;
  bool stopping = false;
  // The time for all of it is over.
  bool out_of_time = false;

  std::vector<ObjectState> states;
  // Of each object that is in the cluster just as it would be sent: that form. Null for the others.
  std::vector<const Json*> unchanged;
  std::unordered_map<object::Key, uint32_t> nodes;
  // What was in the cluster before anything was sent, as far as it was read.
  std::unordered_map<object::Key, const Json*> live;
  // Of every node, guards included; and why those failed that are no objects.
  std::vector<TimePoint> settled_at;
  std::map<uint32_t, Error> errors;
  TimePoint begun;
  // When the time for all of it is over; TimePoint::max() if there is no limit.
  TimePoint expires = TimePoint::max();
  // By the API server's clock.
  WallTime begun_at_server;
  // What has this version or an older one was last written before anything was sent.
  uint64_t version_before = 0;
  std::string field_manager;
  // Empty without a name.
  std::string part_of;
  // The other field managers of the same user, whose fields this run takes over.
  std::set<std::string, std::less<>> predecessors;

  const object::Object& object(uint32_t node) const { return bundle.objects[node]; }
  Duration timeout_for(const object::Key& key) const;
  // The user has said how long to wait for its kind.
  bool has_chosen_timeout(const object::Key& key) const { return chosen_timeout(key).has_value(); }
  // The object of the bundle with that key.
  std::optional<uint32_t> find(const object::Key& key) const;
  // Its kind is known by now: puts it into its namespace, if that was not done before. An error if it is for another.
  std::optional<Error> place(uint32_t node);
  // This run as the successor of others who managed its objects.
  inventory::Successor successor() const;
  // As it was in the cluster before; null where that is not known, or it was not there.
  const Json* before(uint32_t node) const;
  // All objects of its kind that were there before were read, and it was not among them.
  bool must_be_new(uint32_t node) const;
  // Of the kind of that object; its CRD's key, whether there is one or not. The kind must be known.
  object::Key definition_of(uint32_t node) const;
  // What the object is gone with: its namespace, and its CRD if it is a custom resource.
  std::vector<object::Key> containers_of(uint32_t node) const;
  // Of the bundle, or as it was in the cluster; null if neither has it.
  const Json* service(const std::string& ns, const std::string& name) const;

  void tell(journal::EventKind kind, uint32_t node, std::string state, std::string text,
            std::optional<Error> error = {});
  void note(journal::EventKind kind, std::string text, std::optional<Error> error = {});

  void stored(uint32_t node);
  void ready(uint32_t node);
  void failed(uint32_t node, Error error);

 private:
  std::optional<Duration> chosen_timeout(const object::Key& key) const;
};

}  // namespace fairlead::rollout

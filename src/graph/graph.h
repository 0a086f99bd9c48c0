// Turns a bundle and the state of the cluster into needs and guards: what must be true before each object can be sent.
//
// This is the room's first header. Nodes are numbers. The first object_count() nodes are the objects of the bundle, in
// its order; guards, waves, groups and objects outside the bundle follow. A need leads from a node to a node that it
// waits for. If there is no problem of severity error, the needs form no loop. The room is pure: it reads no clock,
// does no I/O and changes nothing. If it cannot know whether a guard matches an object, it assumes that the guard does.
// Everything else that it cannot know is left to the API server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/prospect.h"
#include "admission/webhook.h"
#include "base/error.h"
#include "base/json.h"
#include "manifest/manifest.h"
#include "object/key.h"
#include "object/resource.h"
#include "plan/id.h"

namespace fairlead::graph {

using plan::NodeId;
// The number of a guard, which is its position in guards().
using GuardId = plan::Id<struct Guard>;

// The part of the cluster's state that matters here. The objects come from LISTs; each has apiVersion and kind.
struct ClusterState {
  std::vector<Json> webhook_configurations;  // validating and mutating
  std::vector<Json> policies;                // ValidatingAdmissionPolicies and MutatingAdmissionPolicies
  std::vector<Json> bindings;                // bindings of those policies
  std::vector<Json> definitions;             // CustomResourceDefinitions
  std::vector<Json> api_services;
  std::vector<Json> namespaces;
  // Objects for which a controller defines kinds (kind_generators.h). They are read only if the bundle has objects of
  // kinds that neither the cluster nor a CRD of the bundle defines.
  std::vector<Json> kind_generators = {};
  std::vector<Json> services;  // Services that webhooks, conversions and APIServices name

  // True if the list is complete, so that an object that is not in it is not in the cluster. If false, no object of
  // that kind is reported as missing.
  bool namespaces_known = false;
  bool services_known = false;
  bool policies_known = false;
  // True if the lists of webhook configurations, policies, bindings and definitions are all complete.
  bool guards_known = false;

  // Looks up a kind in the cluster's discovery. Returns null if the cluster does not serve the kind. Kinds of the
  // bundle's CRDs are read from the bundle. If the function is empty, only kinds of Kubernetes itself are known, and no
  // kind is reported as missing.
  std::function<const object::Resource*(std::string_view group, std::string_view version, std::string_view kind)>
      find_resource;
  // Explains why find_resource finds no such kind. The function may be empty.
  std::function<Error(std::string_view group, std::string_view version, std::string_view kind)> why_missing;
  // Returns the live version of an object of the bundle, or null if it is not known. The function may be empty.
  // objectSelectors are matched against the live labels as well, as in the API server.
  std::function<const Json*(const object::Key& key)> find_live;
};

struct Options {
  // The namespace of namespaced objects that do not name one.
  std::string default_namespace = "default";
  // The name of the inventory ConfigMap in the default namespace, which every run of the bundle writes first. Empty if
  // there is none.
  std::string inventory = {};
  // True if the bundle was rolled out before: then Helm hooks for upgrades run and those for installations do not. If
  // it is not known, both run.
  std::optional<bool> was_there = {};
};

// What a need requires of its target: `stored` means that the API server has it, `ready` means that it works.
enum class Level : uint8_t { stored, ready };
std::string_view name_of(Level level);

struct Need {
  NodeId target;
  Level level = Level::stored;
  // A soft need is dropped if it closes a loop; a loop of hard needs is an error.
  bool hard = false;
  // For example "its namespace", "its CRD", "volume data" or "webhook v.example.com guards it". Valid as long as the
  // graph.
  std::string_view reason;
};

// A webhook, policy, conversion or APIService that a request for an object has to pass. A guard can be registered
// without working.
struct Guard {
  enum class Kind : uint8_t {
    validating_webhook,
    mutating_webhook,
    validating_policy,
    mutating_policy,
    conversion,
    api_service
  };
  Kind kind = Kind::validating_webhook;
  // The name of the webhook, policy, CRD or APIService.
  std::string name;
  // The object that registers the guard: a webhook configuration, a policy binding, a CRD or an APIService.
  object::Key configuration;
  // The configuration, if it is an object of the bundle. It may be in the cluster as well.
  std::optional<NodeId> object;
  bool in_cluster = false;
  // The guard fails open: if it does not answer, the API server accepts the object without it.
  bool ignore = false;
  // Set for webhooks. If the bundle and the cluster both have the webhook, this is the bundle's version.
  std::optional<admission::Webhook> webhook;
  // The endpoint that the API server calls. Policies have neither a Service nor a URL.
  std::optional<admission::ServiceReference> service;
  std::string url;
  std::string ca_bundle;  // base64
  // Objects of the bundle that the guard depends on: its Service, the workloads that the Service selects, and the
  // Secrets, Certificates and Jobs of its certificate. For a policy: the policy, its parameters and their CRD.
  std::vector<NodeId> backed_by;

  // For example "webhook v.example.com (ValidatingWebhookConfiguration x)" or "conversion of widgets.example.com".
  std::string text() const;
};

struct Node {
  enum class Kind : uint8_t {
    object,   // an object of the bundle
    guard,    // ready once it is proved to answer
    wave,     // reached once every node that it needs is ready
    all_of,   // a set of needs that many nodes share; met once each of them is met at its level
    outside,  // an object that an annotation names and that is not in the bundle
  };
  Kind kind = Kind::object;
  // The position in the bundle for objects, and in guards() for guards. Other kinds are counted on their own.
  uint32_t index = 0;

  // Requires that the node is a guard.
  GuardId guard() const { return GuardId(index); }
};

// A guard that matches an object.
struct GuardMatch {
  GuardId guard;
  admission::Certainty certainty = admission::Certainty::maybe;
  // True if the guard matches only the pods that are created from the object, not the object itself.
  bool by_pods = false;
};

// An object that a guard matches but that does not wait for the guard, because the guard depends on it.
struct Exemption {
  NodeId object;
  GuardId guard;
  // True if the reason is another: the guard's configuration, or a workload that answers for it, is in a later step
  // (wave or hook) than the object.
  bool precedes = false;
};

enum class Severity : uint8_t { note, warning, error };

struct Problem {
  Severity severity = Severity::error;
  Error error;
  std::optional<NodeId> node;
};

struct Contents;

class Graph {
 public:
  // Builds the graph. It keeps no reference to its arguments.
  static Graph build(const manifest::Bundle& bundle, const ClusterState& cluster, const Options& options = {});
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  size_t object_count() const;
  // The nodes of the objects.
  plan::IdRange<NodeId> objects() const { return plan::IdRange<NodeId>(object_count()); }
  const plan::IdVector<NodeId, Node>& nodes() const;
  // For example "Deployment team-a/web", "webhook v.example.com (ValidatingWebhookConfiguration x)" or "wave 2".
  std::string text(NodeId node) const;
  // Returns the key of an object, with the namespace that it will have, or of an object outside the bundle. The key of
  // any other node is empty.
  const object::Key& key(NodeId node) const;

  std::span<const Need> needs_of(NodeId node) const;

  const plan::IdVector<GuardId, Guard>& guards() const;
  NodeId node_of_guard(GuardId guard) const;
  // Returns the guards that an object waits for: those that may match it and that it is not exempt from.
  std::span<const GuardMatch> guards_of(NodeId object) const;
  // Returns every guard that may match an object, even if the object is exempt.
  std::span<const GuardMatch> matches_of(NodeId object) const;
  const std::vector<Exemption>& exemptions() const;

  // True if the object is not part of this run: Helm hooks for tests, deletion and rollback, and hooks for
  // installations in an upgrade or the reverse. Such an object has no needs, and no node needs it.
  bool is_left_out(NodeId object) const;

  const std::vector<Problem>& problems() const;
  bool has_errors() const;

 private:
  explicit Graph(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace fairlead::graph

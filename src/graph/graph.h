// A bundle and what the cluster has, into needs and guards: what has to be true before each object can be sent.
//
// This is the room's first header. Nodes are numbers: the first object_count() of them are the objects of the bundle,
// in its order, and behind those come guards, waves, groups and what is outside. Needs lead from a node to those that
// it waits for; once there is no problem of severity error, they have no loop. The room is pure: it reads no clock,
// does no I/O and changes nothing. What it cannot know beforehand it counts as a guard or leaves to the API server,
// never the other way round.
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

namespace fairlead::graph {

// What the cluster has, as far as it matters: objects from LISTs, each with apiVersion and kind.
struct ClusterState {
  std::vector<Json> webhook_configurations;  // validating and mutating
  std::vector<Json> policies;                // ValidatingAdmissionPolicies and MutatingAdmissionPolicies
  std::vector<Json> bindings;                // of those
  std::vector<Json> definitions;             // CustomResourceDefinitions
  std::vector<Json> api_services;
  std::vector<Json> namespaces;
  // Objects for which a controller defines kinds (makers.h). Read only where the bundle has objects of kinds that
  // nobody else defines.
  std::vector<Json> kind_generators = {};
  std::vector<Json> services;  // those that webhooks, conversions and APIServices name

  // Whether what is not in those lists is not in the cluster. Where it is not known, nothing is said to be missing.
  bool namespaces_known = false;
  bool services_known = false;
  bool policies_known = false;
  // All webhook configurations, policies, bindings and definitions.
  bool guards_known = false;

  // The kinds that the cluster serves, from discovery; null for one that it does not serve. Those of the bundle's CRDs
  // are read from the bundle. Without it, kinds of Kubernetes itself are known and no kind is said to be missing.
  std::function<const object::Resource*(std::string_view group, std::string_view version, std::string_view kind)>
      find_resource;
  // An object of the bundle as it is in the cluster now, where that is known; may be empty. Its labels count for
  // objectSelectors, as they do in the API server.
  std::function<const Json*(const object::Key& key)> find_live;
};

struct Options {
  // For objects that have a namespace and do not name it.
  std::string default_namespace = "default";
  // The ConfigMap there that every run of the bundle has to write before anything else; empty if there is none.
  std::string inventory = {};
  // The bundle was rolled out before, so that hooks of Helm for upgrades run and those for installations do not. Where
  // it is not known, both run.
  std::optional<bool> was_there = {};
};

// What has to be true of the target: it is in the API, or it works.
enum class Level : uint8_t { stored, ready };
std::string_view name_of(Level level);

struct Need {
  uint32_t target = 0;  // a node
  Level level = Level::stored;
  // Soft needs that closed a loop are not here any more.
  bool hard = false;
  // "its namespace", "its CRD", "volume data", "webhook v.example.com guards it"; lives as long as the graph.
  std::string_view reason;
};

// What stands in the way of objects into the API, and can be there without working.
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
  // Of the webhook, the policy, the CRD, the APIService.
  std::string name;
  // What registers it: the webhook configuration, the policy's binding, the CRD, the APIService.
  object::Key configuration;
  // The same as an object of the bundle, where it is one. It may be in the cluster as well.
  std::optional<uint32_t> object;
  bool in_cluster = false;
  // Fails open: what it does not answer goes in unseen.
  bool ignore = false;
  // Of webhooks; the bundle's form where both have it.
  std::optional<admission::Webhook> webhook;
  // Who is called; neither for policies.
  std::optional<admission::ServiceReference> service;
  std::string url;
  std::string ca_bundle;  // base64
  // Objects of the bundle: its Service, the workloads that the Service selects, Secrets, Certificates and Jobs of its
  // certificate; the policy and its parameters.
  std::vector<uint32_t> backed_by;

  // "webhook v.example.com (ValidatingWebhookConfiguration x)", "conversion of widgets.example.com"
  std::string text() const;
};

struct Node {
  enum class Kind : uint8_t {
    object,   // of the bundle
    guard,    // ready when it is proved to answer
    wave,     // reached when all that it needs is ready
    all_of,   // several needs that many nodes share; met when all its own are, at their levels
    outside,  // something that an annotation names and that is not in the bundle
  };
  Kind kind = Kind::object;
  // In the bundle, in guards(), or in a list of its own.
  uint32_t index = 0;
};

// A guard that an object meets.
struct GuardMatch {
  uint32_t guard = 0;  // index in guards()
  admission::Certainty certainty = admission::Certainty::maybe;
  // It is not the object itself that meets it but the pods that are made from it.
  bool by_pods = false;
};

// An object that meets a guard and does not wait for it, since the guard stands on it.
struct Exemption {
  uint32_t object = 0;
  uint32_t guard = 0;  // index in guards()
  // The guard does not stand on it, but comes in a later step than the object was asked to.
  bool precedes = false;
};

enum class Severity : uint8_t { note, warning, error };

struct Problem {
  Severity severity = Severity::error;
  Error error;
  std::optional<uint32_t> node;
};

struct Contents;

class Graph {
 public:
  // The graph keeps nothing of what it was built from.
  static Graph build(const manifest::Bundle& bundle, const ClusterState& cluster, const Options& options = {});
  Graph(Graph&&) noexcept;
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  size_t object_count() const;
  const std::vector<Node>& nodes() const;
  // "Deployment team-a/web", "webhook v.example.com (ValidatingWebhookConfiguration x)", "wave 2"
  std::string text(uint32_t node) const;
  // Of objects (with the namespace that they will have) and of what is outside; empty otherwise.
  const object::Key& key(uint32_t node) const;

  std::span<const Need> needs_of(uint32_t node) const;

  const std::vector<Guard>& guards() const;
  uint32_t node_of_guard(uint32_t guard) const;
  // Every guard that an object may meet, exempt or not; the needs have only those that it waits for.
  std::span<const GuardMatch> guards_of(uint32_t object) const;
  const std::vector<Exemption>& exemptions() const;

  // Not part of this run: hooks of Helm for tests, deletion and rollback, and those for an installation where it is an
  // upgrade, or the other way round. They have no needs, and nobody needs them.
  bool is_left_out(uint32_t object) const;

  const std::vector<Problem>& problems() const;
  bool has_errors() const;

 private:
  explicit Graph(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace fairlead::graph

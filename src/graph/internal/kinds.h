// The kinds of a bundle's objects: their names in the API, whether they are namespaced, and what this room knows about
// them.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/attributes.h"
#include "graph/graph.h"

namespace fairlead::graph {

// Groups of the API.
inline constexpr std::string_view kRegistration = "admissionregistration.k8s.io";
inline constexpr std::string_view kRights = "rbac.authorization.k8s.io";

inline constexpr uint32_t kNone = ~uint32_t{0};
inline constexpr NodeId kNoNode{kNone};

// What a kind means to this room. `other` is for kinds without any special treatment.
enum class Family : uint8_t {
  other,
  name_space,
  secret,
  service,
  service_account,
  volume,
  volume_claim,
  pod,
  workload,  // has a pod template at spec.template
  job,
  cron_job,
  role_binding,
  ingress,
  autoscaler,
  disruption_budget,
  certificate,
  issuer,
  external_secret,
  sealed_secret,
  secret_store_user,
  definition,
  api_service,
  webhook_configuration,
  policy,
  policy_binding,
};

struct Kind {
  // `other_versions`: the kind has a CRD, which does not serve this version.
  enum class Served : uint8_t { yes, no, other_versions, not_known };

  admission::GroupVersionKind kind;
  admission::GroupVersionResource resource;
  bool namespaced = false;
  Served served = Served::not_known;
  Family family = Family::other;
  std::vector<admission::Equivalent> equivalents;
  // The CRD of this kind, and its number if it is an object of the bundle.
  const Json* definition = nullptr;
  NodeId definition_object = kNoNode;
  // Objects of the bundle for which a controller defines this kind.
  std::vector<NodeId> kind_generators;
};

class Kinds {
 public:
  Kinds(const manifest::Bundle& bundle, const ClusterState& cluster);

  // Returns the number of a kind. Kinds are numbered from 0, in the order of the first calls for them.
  uint32_t number_of(std::string_view group, std::string_view version, std::string_view kind);
  const Kind& operator[](uint32_t number) const { return kinds_[number]; }
  size_t size() const { return kinds_.size(); }

 private:
  struct Definition {
    const Json* value = nullptr;
    NodeId object = kNoNode;
  };

  Kind describe(std::string_view group, std::string_view version, std::string_view kind) const;
  void use_kind_generators(Kind& kind) const;
  void use_definition(Kind& kind, const Definition& definition) const;
  bool is_aggregated(std::string_view group, std::string_view version) const;

  const manifest::Bundle& bundle_;
  const ClusterState& cluster_;
  std::unordered_map<std::string, Definition> definitions_;  // by "group/kind"
  std::unordered_map<std::string, bool> aggregated_;         // has "group/version" of every APIService with a Service
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<Kind> kinds_;
};

// A kind of Kubernetes itself.
struct BuiltIn {
  std::string_view group;
  std::string_view kind;
  std::string_view plural;
  bool namespaced;
  Family family;
};
// Returns null if it is not a kind of Kubernetes itself.
const BuiltIn* find_built_in(std::string_view group, std::string_view kind);
// Searches by kind only. Returns null if there is no such kind, or more than one.
const BuiltIn* find_built_in(std::string_view kind);
Family family_of(std::string_view group, std::string_view kind);

}  // namespace fairlead::graph

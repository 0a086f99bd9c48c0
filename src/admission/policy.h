// ValidatingAdmissionPolicies and MutatingAdmissionPolicies with their bindings (admissionregistration.k8s.io/v1): what
// they want, what validating ones say to a request, and what mutating ones make of its object.
//
// Both are within the part of CEL that the room cel evaluates: an expression outside of it counts as passed, and the
// outcome is marked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "admission/criteria.h"
#include "base/json.h"

namespace fairlead::admission {

struct MatchResources {
  Result<object::Selector> namespace_selector;
  Result<object::Selector> object_selector;
  // None is all.
  std::vector<Rule> rules;
  std::vector<Rule> exclude_rules;
  MatchPolicy match_policy = MatchPolicy::equivalent;

  static MatchResources read(const Json& value);
  // An error is one of configuration, in words.
  Result<std::optional<Target>> match(const Attributes& attributes) const;
};

struct ParamKind {
  std::string api_version;
  std::string kind;

  bool operator==(const ParamKind&) const = default;
};

struct Policy {
  enum class Kind { validating, mutating };
  struct Validation {
    Expression expression;
    std::string message;
    std::optional<Expression> message_expression;
    std::string reason;
  };
  struct Variable {
    std::string name;
    Expression expression;
  };
  struct Mutation {
    enum class Kind { apply_configuration, json_patch };
    Kind kind = Kind::apply_configuration;
    Expression expression;
  };
  struct AuditAnnotation {
    std::string key;
    Expression value;
  };

  Kind kind = Kind::validating;
  std::string name;
  FailurePolicy failure_policy = FailurePolicy::fail;
  std::optional<ParamKind> param_kind;
  std::optional<MatchResources> constraints;
  std::vector<Condition> conditions;
  std::vector<Variable> variables;
  std::vector<Validation> validations;
  std::vector<AuditAnnotation> audit_annotations;
  std::vector<Mutation> mutations;

  // Nothing if it is no policy.
  static std::optional<Policy> read(const Json& policy);
};

struct ParamRef {
  std::string name;
  std::string ns;
  // Null if there is none.
  Json selector;
  bool deny_if_missing = false;
};

struct Binding {
  Policy::Kind kind = Policy::Kind::validating;
  std::string name;
  std::string policy;
  std::optional<ParamRef> param_ref;
  std::optional<MatchResources> resources;
  // Deny, Warn, Audit, in order.
  std::vector<std::string> actions;

  static std::optional<Binding> read(const Json& binding);
};

// What is there of a kind of parameters.
struct Params {
  bool namespaced = true;
  std::vector<Json> objects;
};
// Nothing if there is no such kind.
using ParamSource = std::function<std::optional<Params>(const ParamKind& kind)>;

struct PolicyOutcome {
  // The Status that ends the request; null if it may go on.
  Json status;
  std::vector<std::string> warnings;
  // By key, as they go into the audit log.
  std::vector<std::pair<std::string, std::string>> audit_annotations;
  // Some expression could not be evaluated here, and counted as passed.
  bool undecided = false;
};

// In the order given; the server's own order is not fixed. Bindings without a policy, and policies without a binding,
// say nothing.
PolicyOutcome validate(const std::vector<Policy>& policies, const std::vector<Binding>& bindings,
                       const Attributes& attributes, const ParamSource& params);

struct PolicyMutation {
  // The Status that ends the request; null if it may go on.
  Json status;
  // What came of the object, in the version of the request.
  Json object;
  // Some expression could not be evaluated here, and changed nothing.
  bool undecided = false;
};

// Merges a patch into an object as server-side apply does. A patch that does not fit the kind is an error.
using ApplyPatch = std::function<Result<Json>(const Json& object, const Json& patch)>;

// Runs every mutating policy that the request meets once, in the order given.
PolicyMutation mutate(const std::vector<Policy>& policies, const std::vector<Binding>& bindings,
                      const Attributes& attributes, const ParamSource& params, const ApplyPatch& apply);

}  // namespace fairlead::admission

#include "admission/internal/policy_run.h"

#include <algorithm>

#include "base/go_quoted.h"

namespace fairlead::admission {

Variables::Variables(const std::vector<Policy::Variable>& variables, cel::Bindings bindings, size_t& budget)
    : variables_(variables), bindings_(std::move(bindings)), budget_(budget), done_(variables.size()) {
  bindings_.emplace_back("variables", cel::Value(*this));
}

std::optional<Result<cel::Value>> Variables::field(std::string_view name) const {
  for (size_t i = 0; i < variables_.size(); ++i)
    if (variables_[i].name == name) return value(i);
  return std::nullopt;
}

Result<cel::Value> Variables::value(size_t i) const {
  if (done_[i]) return *done_[i];
  const Policy::Variable& variable = variables_[i];
  // While it is evaluated it cannot be used: the server declares each only after it is compiled.
  done_[i] = fail(ErrorKind::invalid, "no such key: {}", variable.name);
  Result<cel::Value> result = evaluate(variable);
  done_[i] = result;
  return result;
}

Result<cel::Value> Variables::evaluate(const Policy::Variable& variable) const {
  const Result<cel::Program>& program = variable.expression.program;
  if (!program) {
    if (program.error().kind() == ErrorKind::limit) return std::unexpected(program.error());
    return fail(ErrorKind::invalid, "composited variable {} fails to compile: compilation failed: {}",
                go_quoted(variable.name), program.error().what());
  }
  size_t allowed = std::min(budget_, cel::kCostLimit);
  size_t left = allowed;
  Result<cel::Value> result = program->evaluate(bindings_, left);
  budget_ -= allowed - left;
  if (result || result.error().kind() == ErrorKind::limit) return result;
  return fail(ErrorKind::invalid, "composited variable {} fails to evaluate: {}", go_quoted(variable.name),
              result.error().what());
}

Result<std::optional<Target>> match_policy(const Policy& policy, const Attributes& attributes) {
  if (!policy.constraints) return fail(ErrorKind::invalid, "policy contained no match constraints, a required field");
  return policy.constraints->match(attributes);
}

Result<std::optional<Params>> find_params(const Policy& policy, const ParamSource& source) {
  if (!policy.param_kind) return std::nullopt;
  std::optional<Params> params = source ? source(*policy.param_kind) : std::nullopt;
  if (params) return params;
  auto slash = policy.param_kind->api_version.find('/');
  std::string group = slash == std::string::npos ? "" : policy.param_kind->api_version.substr(0, slash);
  std::string version = policy.param_kind->api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  return fail(ErrorKind::invalid, "failed to find resource referenced by paramKind: '{}/{}, Kind={}'", group, version,
              policy.param_kind->kind);
}

Result<std::vector<Json>> choose_params(const Binding& binding, const std::optional<Params>& params,
                                        const Attributes& attributes) {
  if (!params || !binding.param_ref) return std::vector<Json>{Json()};
  const ParamRef& ref = *binding.param_ref;
  if (params->namespaced && ref.ns.empty() && attributes.ns.empty())
    return fail(ErrorKind::invalid,
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  if (!params->namespaced && !ref.ns.empty())
    return fail(ErrorKind::invalid, "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  const std::string& ns = ref.ns.empty() ? attributes.ns : ref.ns;
  object::Selector selector;
  if (!ref.name.empty()) {
    if (!ref.selector.is_null())
      return fail(ErrorKind::invalid, "paramRef.name and paramRef.selector are mutually exclusive");
  } else if (!ref.selector.is_null()) {
    TRY_ASSIGN(selector, object::Selector::from_json(ref.selector));
  } else {
    return fail(ErrorKind::invalid, "one of name or selector must be provided");
  }
  std::vector<Json> chosen;
  for (const Json& object : params->objects) {
    const Json& metadata = object["metadata"];
    if (params->namespaced && metadata["namespace"].string_or("") != ns) continue;
    if (ref.name.empty() ? selector.matches(metadata["labels"]) : metadata["name"].string_or("") == ref.name)
      chosen.push_back(object);
  }
  if (chosen.empty() && ref.deny_if_missing)
    return fail(ErrorKind::invalid, "no params found for policy binding with `Deny` parameterNotFoundAction");
  return chosen;
}

std::optional<Json> visible_namespace(const Attributes& attributes) {
  bool is_namespace = attributes.kind == GroupVersionKind{.group = "", .version = "v1", .kind = "Namespace"};
  if (attributes.ns.empty() || is_namespace) return Json();
  const Json& live = attributes.ns_object;
  if (live.is_null()) return std::nullopt;
  Json result = Json::Object{{"metadata", Json::Object()}};
  for (std::string_view field :
       {"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp",
        "deletionTimestamp", "deletionGracePeriodSeconds", "labels", "annotations", "finalizers"})
    if (live["metadata"].contains(field)) result.make("metadata").make(field) = live["metadata"][field];
  for (std::string_view field : {"spec", "status"})
    result.make(field) = live[field].is_null() ? Json::Object() : live[field];
  return result;
}

Conditions policy_conditions(const Policy& policy, const cel::Bindings& values) {
  if (policy.conditions.empty()) return {};
  cel::Bindings without_namespace;
  for (const auto& binding : values)
    if (binding.first != "namespaceObject") without_namespace.push_back(binding);
  size_t budget = kConditionsBudget;
  Variables variables(policy.variables, std::move(without_namespace), budget);
  return evaluate_conditions(policy.conditions, policy.failure_policy, variables.bindings());
}

}  // namespace fairlead::admission

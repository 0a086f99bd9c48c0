// What MutatingAdmissionPolicies make of a request's object.
#include <algorithm>

#include "admission/exempt.h"
#include "admission/internal/policy_run.h"
#include "admission/internal/status.h"
#include "admission/policy.h"
#include "base/go_quoted.h"
#include "base/json_patch.h"

namespace fairlead::admission {
namespace {

Result<Json> to_json(const cel::Value& value) {
  if (value.is_null()) return Json();
  if (const bool* flag = value.if_bool()) return Json(*flag);
  if (const int64_t* number = value.if_int()) return Json(*number);
  if (const uint64_t* number = value.if_uint()) return Json(*number);
  if (const double* number = value.if_double()) return Json(*number);
  if (auto text = value.if_string()) return Json(*text);
  if (const cel::Value::Message* message = value.if_message()) {
    Json object = Json::Object();
    for (const auto& [name, field] : message->fields) {
      TRY_ASSIGN(object.make(name), to_json(field));
    }
    return object;
  }
  if (value.is_list()) {
    Json::Array items;
    for (size_t i = 0; i < value.size(); ++i) {
      TRY_ASSIGN(Json item, to_json(value.item(i)));
      items.push_back(std::move(item));
    }
    return Json(std::move(items));
  }
  if (!value.is_map()) return fail(ErrorKind::limit, "a value of type {} is not written as JSON", value.type_name());
  Json object = Json::Object();
  for (size_t i = 0; i < value.size(); ++i) {
    cel::Value key = value.key(i);
    auto name = key.if_string();
    if (!name) return fail(ErrorKind::limit, "a map whose keys are no strings is not written as JSON");
    TRY_ASSIGN(object.make(*name), to_json(value.find(key).value_or(cel::Value())));
  }
  return object;
}

// An object within an object has the type of the field that it is in: Object.spec is the type of Object's `spec`. Maps
// and lists in between have no type.
void check_types(const cel::Value& value, const std::string& expected, std::vector<std::string>& flaws) {
  if (const cel::Value::Message* message = value.if_message()) {
    if (message->type != expected)
      flaws.push_back(
          fmt::format("unexpected type name {}, expected {}, which matches field name path from root Object type",
                      go_quoted(message->type), go_quoted(expected)));
    for (const auto& [name, field] : message->fields) check_types(field, expected + "." + name, flaws);
  }
  for (size_t i = 0; i < value.size(); ++i)
    check_types(value.is_list() ? value.item(i) : value.find(value.key(i)).value_or(cel::Value()), expected, flaws);
}

Result<void> check_types(const cel::Value& value) {
  const cel::Value::Message* message = value.if_message();
  if (message == nullptr) return {};
  std::vector<std::string> flaws;
  check_types(value, message->type, flaws);
  if (flaws.empty()) return {};
  return fail(ErrorKind::invalid, "type mismatch: {}", fmt::join(flaws, "\n"));
}

Result<Json> apply_configuration(const cel::Value& value, const Json& object, const ApplyPatch& apply) {
  if (value.if_message() == nullptr || value.if_message()->type != "Object")
    return fail(ErrorKind::invalid, "unsupported return type from ApplyConfiguration expression: {}",
                value.type_name());
  TRY(check_types(value));
  TRY_ASSIGN(Json patch, to_json(value));
  patch.make("apiVersion") = object["apiVersion"];
  patch.make("kind") = object["kind"];
  Result<Json> applied = apply(object, patch);
  if (applied || applied.error().kind() == ErrorKind::limit) return applied;
  return fail(ErrorKind::invalid, "error applying patch: {}", applied.error().what());
}

Result<Json> apply_operations(const cel::Value& value, const Json& object) {
  if (!value.is_list())
    return fail(ErrorKind::invalid, "type mismatch: JSONPatchType.expression should evaluate to array");
  Json::Array operations;
  for (size_t i = 0; i < value.size(); ++i) {
    cel::Value item = value.item(i);
    const cel::Value::Message* message = item.if_message();
    if (message == nullptr || message->type != "JSONPatch")
      return fail(ErrorKind::limit, "a JSON patch with an operation of type {} is not evaluated", item.type_name());
    Json operation = Json::Object();
    for (const auto& [name, field] : message->fields) {
      TRY(check_types(field));
      TRY_ASSIGN(operation.make(name), to_json(field));
    }
    operations.push_back(std::move(operation));
  }
  Result<Json> patched = apply_json_patch(object, Json(std::move(operations)));
  if (patched || patched.error().kind() == ErrorKind::limit) return patched;
  // A test that fails is a condition that is not met.
  if (patched.error().what().ends_with(": test failed")) return object;
  return fail(ErrorKind::invalid, "JSON Patch: {}", patched.error().what());
}

// A policy, with a binding and the parameter that this one chose.
struct Invocation {
  const Policy& policy;
  const Binding& binding;
  Target target;
  Json param;
};

class Mutator {
 public:
  Mutator(const std::vector<Binding>& bindings, const Attributes& attributes, const ParamSource& params,
          const ApplyPatch& apply)
      : bindings_(bindings), attributes_(attributes), params_(params), apply_(apply) {
    outcome_.object = attributes.object;
  }

  // All policies are matched before the first one changes anything.
  void collect(const Policy& policy) {
    if (policy.kind != Policy::Kind::mutating) return;
    bool bound = std::ranges::any_of(bindings_, [&](const Binding& b) { return belongs(b, policy); });
    if (!bound) return;
    Result<std::optional<Target>> target = match_policy(policy, attributes_);
    if (!target) return configuration_error(policy, nullptr, target.error().what());
    if (!*target) return;
    Result<std::optional<Params>> params = find_params(policy, params_);
    if (!params) return configuration_error(policy, nullptr, params.error().what());
    for (const Binding& binding : bindings_) {
      if (!belongs(binding, policy)) continue;
      if (binding.resources) {
        Result<std::optional<Target>> matched = binding.resources->match(attributes_);
        if (!matched) configuration_error(policy, &binding, matched.error().what());
        if (!matched || !*matched) continue;
      }
      Result<std::vector<Json>> chosen = choose_params(binding, *params, attributes_);
      if (!chosen) {
        configuration_error(policy, &binding, chosen.error().what());
        continue;
      }
      for (Json& param : *chosen)
        invocations_.push_back({.policy = policy, .binding = binding, .target = **target, .param = std::move(param)});
    }
  }

  PolicyMutation run() {
    std::optional<Json> ns = visible_namespace(attributes_);
    if (!invocations_.empty() && !ns) {
      outcome_.status = namespace_not_found(attributes_.ns);
      return std::move(outcome_);
    }
    for (const Invocation& invocation : invocations_) run(invocation, *ns);
    if (!denials_.empty()) outcome_.status = denied();
    return std::move(outcome_);
  }

 private:
  struct Denial {
    std::string message;
    std::string reason;
  };

  void run(const Invocation& invocation, const Json& ns) {
    const Policy& policy = invocation.policy;
    Json request = request_json(attributes_, invocation.target.resource, invocation.target.kind);
    Result<Json> old_object = in_version(attributes_, attributes_.old_object, invocation.target.kind);
    for (size_t i = 0; i <= policy.mutations.size(); ++i) {
      Result<Json> object = in_version(attributes_, outcome_.object, invocation.target.kind);
      for (const Result<Json>* converted : {&object, &old_object})
        if (!*converted) return configuration_error(policy, nullptr, converted->error().message());
      cel::Bindings values = {{"object", cel::Value::of(*object)},
                              {"oldObject", cel::Value::of(*old_object)},
                              {"request", cel::Value::of(request)},
                              {"namespaceObject", cel::Value::of(ns)},
                              {"params", cel::Value::of(invocation.param)}};
      if (i == 0) {
        Conditions conditions = policy_conditions(policy, values);
        outcome_.undecided = outcome_.undecided || conditions.undecided;
        if (conditions.outcome == Conditions::Outcome::not_met) return;
        if (conditions.outcome == Conditions::Outcome::failed) return deny(invocation, conditions.error);
      }
      if (i == policy.mutations.size() || object->is_null()) return;
      mutate(invocation, policy.mutations[i], values, *object);
    }
  }

  void mutate(const Invocation& invocation, const Policy::Mutation& mutation, const cel::Bindings& values,
              const Json& object) {
    size_t budget = kValidationsBudget;
    Variables variables(invocation.policy.variables, values, budget);
    Result<cel::Value> value = mutation.expression.evaluate(variables.bindings(), budget);
    Result<Json> mutated = !value ? Result<Json>(std::unexpected(value.error()))
                           : mutation.kind == Policy::Mutation::Kind::apply_configuration
                               ? apply_configuration(*value, object, apply_)
                               : apply_operations(*value, object);
    if (mutated) mutated = in_version(attributes_, *mutated, attributes_.kind);
    if (mutated) outcome_.object = *std::move(mutated);
    else if (mutated.error().kind() == ErrorKind::limit) outcome_.undecided = true;
    else deny(invocation, mutated.error().what());
  }

  void configuration_error(const Policy& policy, const Binding* binding, std::string_view error) {
    if (policy.failure_policy == FailurePolicy::ignore) return;
    denials_.push_back(
        binding != nullptr
            ? Denial{fmt::format("policy '{}' with binding '{}' denied request: failed to configure binding: {}",
                                 policy.name, binding->name, error),
                     ""}
            : Denial{fmt::format("policy {} denied request: failed to configure policy: {}", go_quoted(policy.name),
                                 error),
                     ""});
  }

  void deny(const Invocation& invocation, std::string_view error) {
    if (invocation.policy.failure_policy == FailurePolicy::ignore) return;
    denials_.push_back({fmt::format("policy '{}' with binding '{}' denied request: {}", invocation.policy.name,
                                    invocation.binding.name, error),
                        "Invalid"});
  }

  // The first one gives the message and the reason; the code is that of a refusal, whatever the reason is.
  Json denied() const {
    Json status = forbidden(attributes_.resource, name_for_messages(attributes_), "");
    status.make("message") = denials_[0].message;
    if (!denials_[0].reason.empty()) status.make("reason") = denials_[0].reason;
    Json::Array causes;
    for (const Denial& denial : denials_) causes.push_back(Json::Object{{"message", denial.message}});
    status.make("details").make("causes") = std::move(causes);
    return status;
  }

  const std::vector<Binding>& bindings_;
  const Attributes& attributes_;
  const ParamSource& params_;
  const ApplyPatch& apply_;
  std::vector<Invocation> invocations_;
  std::vector<Denial> denials_;
  PolicyMutation outcome_;
};

}  // namespace

PolicyMutation mutate(const std::vector<Policy>& policies, const std::vector<Binding>& bindings,
                      const Attributes& attributes, const ParamSource& params, const ApplyPatch& apply) {
  Mutator mutator(bindings, attributes, params, apply);
  // There is nothing to change in a deletion.
  if (attributes.operation != Operation::remove && !is_exempt_from_policies(attributes.resource))
    for (const Policy& policy : policies) mutator.collect(policy);
  return mutator.run();
}

}  // namespace fairlead::admission

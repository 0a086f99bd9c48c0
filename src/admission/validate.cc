// What ValidatingAdmissionPolicies say to a request.
#include <algorithm>
#include <map>

#include "admission/exempt.h"
#include "admission/go_json.h"
#include "admission/internal/policy_run.h"
#include "admission/internal/status.h"
#include "admission/policy.h"

namespace fairlead::admission {
namespace {

constexpr size_t kMaxMessage = 5 * 1024;
constexpr size_t kMaxAnnotation = 10 * 1024;

int64_t code_for(std::string_view reason) {
  if (reason == "Forbidden") return 403;
  if (reason == "Unauthorized") return 401;
  if (reason == "RequestEntityTooLarge") return 413;
  return 422;
}

struct Decision {
  bool denied = false;
  std::string message;
  // Empty for what ended in an error.
  std::string reason;
};

struct Evaluation {
  std::vector<Decision> decisions;
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<std::string> annotation_errors;
  bool undecided = false;
};

class Validator {
 public:
  Validator(const std::vector<Binding>& bindings, const Attributes& attributes, const ParamSource& params)
      : bindings_(bindings), attributes_(attributes), params_(params) {}

  void run(const Policy& policy) {
    if (policy.kind != Policy::Kind::validating) return;
    bool bound = std::any_of(bindings_.begin(), bindings_.end(), [&](const Binding& b) { return belongs(b, policy); });
    if (!bound || done_) return;
    Result<std::optional<Target>> target = match_policy(policy, attributes_);
    if (!target) return configuration_error(policy, nullptr, target.error().what());
    if (!*target) return;
    Result<std::optional<Params>> params = find_params(policy, params_);
    if (!params) return configuration_error(policy, nullptr, params.error().what());
    std::map<std::string, std::vector<std::string>> annotations;
    for (const Binding& binding : bindings_)
      if (belongs(binding, policy) && !done_) run(policy, **target, binding, *params, annotations);
    for (const auto& [key, values] : annotations)
      outcome_.audit_annotations.emplace_back(policy.name + "/" + key, fmt::format("{}", fmt::join(values, ", ")));
  }

  PolicyOutcome take() {
    if (denied_) outcome_.status = std::move(*denied_);
    return std::move(outcome_);
  }

 private:
  // Only the first one that denies is told.
  void deny(const Policy& policy, const Binding* binding, const Decision& decision) {
    if (denied_) return;
    std::string with = binding != nullptr ? fmt::format(" with binding '{}'", binding->name) : "";
    std::string message =
        fmt::format("ValidatingAdmissionPolicy '{}'{} denied request: {}", policy.name, with, decision.message);
    std::string reason = decision.reason.empty() ? "Invalid" : decision.reason;
    Json status = forbidden(attributes_.resource, name_for_messages(attributes_), message);
    status.make("reason") = reason;
    status.make("code") = code_for(reason);
    status.make("details").make("causes") = Json::Array{Json::Object{{"message", message}}};
    denied_ = std::move(status);
  }

  void configuration_error(const Policy& policy, const Binding* binding, std::string_view error) {
    if (policy.failure_policy == FailurePolicy::ignore) return;
    std::string_view what = binding != nullptr ? "failed to configure binding" : "failed to configure policy";
    deny(policy, binding, {.denied = true, .message = fmt::format("{}: {}", what, error), .reason = {}});
  }

  void run(const Policy& policy, const Target& target, const Binding& binding, const std::optional<Params>& params,
           std::map<std::string, std::vector<std::string>>& annotations) {
    if (binding.resources) {
      Result<std::optional<Target>> matched = binding.resources->match(attributes_);
      if (!matched) return configuration_error(policy, &binding, matched.error().what());
      if (!*matched) return;
    }
    Result<std::vector<Json>> chosen = choose_params(binding, params, attributes_);
    if (!chosen) return configuration_error(policy, &binding, chosen.error().what());
    if (chosen->empty()) return;

    Result<Json> object = in_version(attributes_, attributes_.object, target.kind);
    Result<Json> old_object = in_version(attributes_, attributes_.old_object, target.kind);
    for (const Result<Json>* converted : {&object, &old_object})
      if (!*converted)
        return configuration_error(policy, &binding,
                                   fmt::format("failed to convert object version: {}", converted->error().message()));

    std::optional<Json> ns = visible_namespace(attributes_);
    if (!ns) {
      denied_ = namespace_not_found(attributes_.ns);
      done_ = true;
      return;
    }
    Json request = request_json(attributes_, target.resource, target.kind);
    for (const Json& param : *chosen) {
      cel::Bindings values = {{"object", cel::Value::of(*object)},
                              {"oldObject", cel::Value::of(*old_object)},
                              {"request", cel::Value::of(request)},
                              {"namespaceObject", cel::Value::of(*ns)},
                              {"params", cel::Value::of(param)}};
      take(policy, binding, evaluate(policy, values), annotations);
    }
  }

  static Evaluation evaluate(const Policy& policy, const cel::Bindings& values) {
    Evaluation result;
    bool fails = policy.failure_policy == FailurePolicy::fail;
    Conditions conditions = policy_conditions(policy, values);
    result.undecided = conditions.undecided;
    if (conditions.outcome == Conditions::Outcome::not_met) return {};
    if (conditions.outcome == Conditions::Outcome::failed) {
      result.decisions.push_back({.denied = fails, .message = conditions.error, .reason = {}});
      return result;
    }
    size_t budget = kValidationsBudget;
    Variables variables(policy.variables, values, budget);
    for (const Policy::Validation& validation : policy.validations) {
      Result<cel::Value> value = validation.expression.evaluate(variables.bindings(), budget);
      if (!value && value.error().kind() == ErrorKind::limit) {
        result.undecided = true;
        result.decisions.emplace_back();
      } else if (!value) {
        result.decisions.push_back({.denied = fails, .message = value.error().what(), .reason = {}});
      } else if (const bool* passed = value->if_bool(); passed != nullptr && *passed) {
        result.decisions.emplace_back();
      } else {
        result.decisions.push_back({.denied = true,
                                    .message = message_of(validation, variables.bindings(), budget),
                                    .reason = validation.reason.empty() ? "Invalid" : validation.reason});
      }
    }
    annotate(policy, variables.bindings(), result);
    return result;
  }

  static std::string message_of(const Policy::Validation& validation, const cel::Bindings& values, size_t& budget) {
    if (validation.message_expression) {
      Result<cel::Value> value = validation.message_expression->evaluate(values, budget);
      std::string_view text = value ? trimmed(value->if_string().value_or("")) : "";
      if (!text.empty() && text.size() <= kMaxMessage && !text.contains('\n')) return std::string(text);
    }
    if (std::string_view text = trimmed(validation.message); !text.empty()) return std::string(text);
    return fmt::format("failed expression: {}", trimmed(validation.expression.text));
  }

  static void annotate(const Policy& policy, const cel::Bindings& values, Evaluation& result) {
    size_t budget = kValidationsBudget;
    bool fails = policy.failure_policy == FailurePolicy::fail;
    for (const Policy::AuditAnnotation& annotation : policy.audit_annotations) {
      Result<cel::Value> value = annotation.value.evaluate(values, budget);
      if (!value) {
        if (value.error().kind() == ErrorKind::limit) {
          result.undecided = true;
        } else if (fails) {
          result.annotation_errors.push_back(value.error().what());
        }
      } else if (auto text = value->if_string()) {
        if (!trimmed(*text).empty()) result.annotations.emplace_back(annotation.key, trimmed(*text));
      } else if (!value->is_null()) {
        result.annotation_errors.push_back(
            fmt::format("valueExpression '{}' resulted in unsupported return type: {}. Return type must be either "
                        "string or null.",
                        annotation.value.text, value->type_name()));
      }
    }
  }

  void take(const Policy& policy, const Binding& binding, Evaluation evaluation,
            std::map<std::string, std::vector<std::string>>& annotations) {
    outcome_.undecided = outcome_.undecided || evaluation.undecided;
    for (size_t i = 0; i < evaluation.decisions.size(); ++i) {
      const Decision& decision = evaluation.decisions[i];
      if (!decision.denied) continue;
      for (const std::string& action : binding.actions) {
        if (action == "Deny") deny(policy, &binding, decision);
        if (action == "Warn")
          outcome_.warnings.push_back(
              fmt::format("Validation failed for ValidatingAdmissionPolicy '{}' with binding '{}': {}", policy.name,
                          binding.name, decision.message));
        if (action == "Audit") audit_failure(binding, i, decision);
      }
    }
    for (auto& [key, value] : evaluation.annotations) {
      if (value.size() > kMaxAnnotation) value.resize(kMaxAnnotation);
      std::vector<std::string>& values = annotations[key];
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(std::move(value));
    }
    for (const std::string& error : evaluation.annotation_errors)
      deny(policy, &binding, {.denied = true, .message = error, .reason = {}});
  }

  void audit_failure(const Binding& binding, size_t index, const Decision& decision) {
    constexpr std::string_view kKey = "validation.policy.admission.k8s.io/validation_failure";
    // The audit log takes a key once.
    for (const auto& [key, value] : outcome_.audit_annotations)
      if (key == kKey) return;
    Json failure = Json::Object{{"message", decision.message},
                                {"policy", binding.policy},
                                {"binding", binding.name},
                                {"expressionIndex", static_cast<int64_t>(index)},
                                {"validationActions", Json::Array(binding.actions.begin(), binding.actions.end())}};
    outcome_.audit_annotations.emplace_back(kKey, Json(Json::Array{std::move(failure)}).dump());
  }

  const std::vector<Binding>& bindings_;
  const Attributes& attributes_;
  const ParamSource& params_;
  PolicyOutcome outcome_;
  std::optional<Json> denied_;
  // Something ended the request whatever any policy says.
  bool done_ = false;
};

}  // namespace

PolicyOutcome validate(const std::vector<Policy>& policies, const std::vector<Binding>& bindings,
                       const Attributes& attributes, const ParamSource& params) {
  if (is_exempt_from_policies(attributes.resource)) return {};
  Validator validator(bindings, attributes, params);
  for (const Policy& policy : policies) validator.run(policy);
  return validator.take();
}

}  // namespace fairlead::admission

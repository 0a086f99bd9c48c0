#include "admission/policy.h"

namespace fairlead::admission {
namespace {

const std::vector<std::string_view>& policy_variables(bool with_params) {
  static const std::vector<std::string_view> kWith = {"object",          "oldObject", "request",
                                                      "namespaceObject", "variables", "params"};
  static const std::vector<std::string_view> kWithout(kWith.begin(), kWith.end() - 1);
  return with_params ? kWith : kWithout;
}

std::string text_of(const Json& value) { return std::string(value.string_or("")); }

std::optional<Policy::Kind> kind_of(const Json& object, std::string_view suffix) {
  std::string_view kind = object["kind"].string_or("");
  if (!kind.ends_with(suffix)) return std::nullopt;
  kind.remove_suffix(suffix.size());
  if (kind == "ValidatingAdmissionPolicy") return Policy::Kind::validating;
  if (kind == "MutatingAdmissionPolicy") return Policy::Kind::mutating;
  return std::nullopt;
}

// A Status says it in many words; the configuration error that it becomes is its message.
Result<bool> in_words(const std::expected<bool, Json>& matched) {
  if (matched) return *matched;
  return fail(Error(ErrorKind::invalid, text_of(matched.error()["message"])));
}

}  // namespace

MatchResources MatchResources::read(const Json& value) {
  MatchResources result{.namespace_selector = read_selector(value["namespaceSelector"]),
                        .object_selector = read_selector(value["objectSelector"])};
  for (const Json& rule : value["resourceRules"].items()) result.rules.push_back(Rule::read(rule));
  for (const Json& rule : value["excludeResourceRules"].items()) result.exclude_rules.push_back(Rule::read(rule));
  result.match_policy = read_match_policy(value["matchPolicy"]);
  return result;
}

Result<std::optional<Target>> MatchResources::match(const Attributes& attributes) const {
  Result<bool> in_namespace = in_words(match_namespace(namespace_selector, attributes));
  if (in_namespace && !*in_namespace) return std::nullopt;
  Result<bool> by_labels = in_words(match_object(object_selector, attributes));
  if (by_labels && !*by_labels) return std::nullopt;
  TRY_ASSIGN(std::optional<Target> excluded, match_rules(exclude_rules, match_policy, attributes));
  if (excluded) return std::nullopt;
  std::optional<Target> target = Target{.rule = 0, .resource = attributes.resource, .kind = attributes.kind};
  if (!rules.empty()) {
    TRY_ASSIGN(target, match_rules(rules, match_policy, attributes));
  }
  if (!target) return std::nullopt;
  TRY(in_namespace);
  TRY(by_labels);
  return target;
}

std::optional<Policy> Policy::read(const Json& policy) {
  std::optional<Kind> kind = kind_of(policy, "");
  if (!kind) return std::nullopt;
  const Json& spec = policy["spec"];
  Policy result;
  result.kind = *kind;
  result.name = policy["metadata"]["name"].string_or("");
  result.failure_policy = read_failure_policy(spec["failurePolicy"]);
  if (const Json& param = spec["paramKind"]; param.is_object())
    result.param_kind = ParamKind{.api_version = text_of(param["apiVersion"]), .kind = text_of(param["kind"])};
  const std::vector<std::string_view>& variables = policy_variables(result.param_kind.has_value());
  if (spec["matchConstraints"].is_object()) result.constraints = MatchResources::read(spec["matchConstraints"]);
  result.conditions = read_conditions(spec["matchConditions"], variables);
  for (const Json& variable : spec["variables"].items())
    result.variables.push_back({.name = text_of(variable["name"]),
                                .expression = Expression::compile(text_of(variable["expression"]), variables)});
  for (const Json& validation : spec["validations"].items()) {
    std::optional<Expression> message;
    if (!validation["messageExpression"].string_or("").empty())
      message = Expression::compile(text_of(validation["messageExpression"]), variables);
    result.validations.push_back({.expression = Expression::compile(text_of(validation["expression"]), variables),
                                  .message = text_of(validation["message"]),
                                  .message_expression = std::move(message),
                                  .reason = text_of(validation["reason"])});
  }
  for (const Json& mutation : spec["mutations"].items()) {
    bool applies = mutation["patchType"].string_or("") == "ApplyConfiguration";
    const Json& patch = mutation[applies ? "applyConfiguration" : "jsonPatch"];
    result.mutations.push_back(
        {.kind = applies ? Policy::Mutation::Kind::apply_configuration : Policy::Mutation::Kind::json_patch,
         .expression = Expression::compile(text_of(patch["expression"]), variables, cel::Purpose::mutation)});
  }
  for (const Json& annotation : spec["auditAnnotations"].items())
    result.audit_annotations.push_back(
        {.key = text_of(annotation["key"]),
         .value = Expression::compile(text_of(annotation["valueExpression"]), variables)});
  return result;
}

std::optional<Binding> Binding::read(const Json& binding) {
  std::optional<Policy::Kind> kind = kind_of(binding, "Binding");
  if (!kind) return std::nullopt;
  const Json& spec = binding["spec"];
  Binding result;
  result.kind = *kind;
  result.name = binding["metadata"]["name"].string_or("");
  result.policy = spec["policyName"].string_or("");
  if (const Json& ref = spec["paramRef"]; ref.is_object())
    result.param_ref = ParamRef{.name = text_of(ref["name"]),
                                .ns = text_of(ref["namespace"]),
                                .selector = ref["selector"],
                                .deny_if_missing = ref["parameterNotFoundAction"].string_or("") == "Deny"};
  if (spec["matchResources"].is_object()) result.resources = MatchResources::read(spec["matchResources"]);
  result.actions = read_strings(spec["validationActions"]);
  return result;
}

}  // namespace fairlead::admission

#include "sandbox/kinds/internal/policy_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sandbox/kinds/internal/expression_rules.h"
#include "sandbox/kinds/internal/webhook_rules.h"

namespace fairlead::sandbox {
namespace {

void check_choice(const Json& value, const std::string& at, const std::vector<std::string>& supported,
                  std::vector<Cause>& causes) {
  std::string_view text = value.string_or("");
  if (std::find(supported.begin(), supported.end(), text) == supported.end())
    causes.push_back(unsupported_value(at, value, supported));
}

void check_match_resources(const Json& match, const std::string& at, std::vector<Cause>& causes) {
  if (match.is_null()) return;
  check_choice(match["matchPolicy"], at + ".matchPolicy", {"Equivalent", "Exact"}, causes);
  for (std::string_view list : {"resourceRules", "excludeResourceRules"})
    for (size_t i = 0; i < match[list].items().size(); ++i)
      check_admission_rule(match[list].items()[i], fmt::format("{}.{}[{}]", at, list, i), causes);
}

void check_validation(const Json& validation, const std::string& at, const ExpressionVariables& variables,
                      std::vector<Cause>& causes) {
  if (is_blank(validation["expression"].string_or("")))
    causes.push_back(required(at + ".expression", "expression is not specified"));
  else check_expression(validation["expression"], at + ".expression", "bool", variables, causes);
  const Json& words = validation["messageExpression"];
  if (std::string_view text = words.string_or(""); !text.empty()) {
    if (is_blank(text))
      causes.push_back(invalid_value(at + ".messageExpression", words, "must be non-empty if specified"));
    else check_expression(words, at + ".messageExpression", "string", variables, causes);
  }
  if (std::string_view message = validation["message"].string_or(""); !message.empty()) {
    if (is_blank(message))
      causes.push_back(invalid_value(at + ".message", validation["message"], "must be non-empty if specified"));
    else if (message.find_first_of("\r\n") < message.find_last_not_of(" \t\r\n"))
      causes.push_back(invalid_value(at + ".message", validation["message"], "must not contain line breaks"));
  }
  if (!validation["reason"].is_null())
    check_choice(validation["reason"], at + ".reason",
                 {"Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized"}, causes);
}

// What both kinds of policies have. Returns the variables that their own expressions may use.
ExpressionVariables check_policy(const Json& spec, std::vector<Cause>& causes) {
  check_choice(spec["failurePolicy"], "spec.failurePolicy", {"Fail", "Ignore"}, causes);
  ExpressionVariables variables{"object", "oldObject", "request", "namespaceObject"};
  if (!spec["paramKind"].is_null()) {
    variables.emplace_back("params");
    for (std::string_view field : {"apiVersion", "kind"})
      if (spec["paramKind"][field].string_or("").empty())
        causes.push_back(required(fmt::format("spec.paramKind.{}", field), ""));
  }
  const Json& match = spec["matchConstraints"];
  if (match.is_null()) {
    causes.push_back(required("spec.matchConstraints", ""));
  } else {
    check_match_resources(match, "spec.matchConstraints", causes);
    if (match["resourceRules"].items().empty()) causes.push_back(required("spec.matchConstraints.resourceRules", ""));
  }
  check_conditions(spec["matchConditions"], "spec.matchConditions", variables, causes);
  if (!spec["variables"].items().empty()) variables.emplace_back("variables");
  for (size_t i = 0; i < spec["variables"].items().size(); ++i) {
    const Json& variable = spec["variables"].items()[i];
    std::string at = fmt::format("spec.variables[{}]", i);
    if (is_blank(variable["name"].string_or(""))) causes.push_back(required(at + ".name", "name is not specified"));
    if (is_blank(variable["expression"].string_or("")))
      causes.push_back(required(at + ".expression", "expression is not specified"));
    else check_expression(variable["expression"], at + ".expression", "", variables, causes);
  }
  return variables;
}

// What both kinds of bindings have.
void check_binding(const Json& spec, std::vector<Cause>& causes) {
  if (spec["policyName"].string_or("").empty()) causes.push_back(required("spec.policyName", ""));
  if (const Json& param = spec["paramRef"]; !param.is_null()) {
    bool named = !param["name"].string_or("").empty(), selected = !param["selector"].is_null();
    if (named && selected)
      for (std::string_view field : {"name", "selector"})
        causes.push_back(
            forbidden_field(fmt::format("spec.paramRef.{}", field), "name and selector are mutually exclusive"));
    if (!named && !selected) causes.push_back(required("spec.paramRef", "one of name or selector must be specified"));
    if (param["parameterNotFoundAction"].string_or("").empty())
      causes.push_back(required("spec.paramRef.parameterNotFoundAction", ""));
    else
      check_choice(param["parameterNotFoundAction"], "spec.paramRef.parameterNotFoundAction", {"Deny", "Allow"},
                   causes);
  }
  check_match_resources(spec["matchResources"], "spec.matchResources", causes);
}

// There is nothing to mutate in a deletion.
void check_mutable(const Json& match, const std::string& at, std::vector<Cause>& causes) {
  for (const Json& rule : match["resourceRules"].items())
    for (const Json& operation : rule["operations"].items())
      check_choice(operation, at + ".resourceRules.operations", {"*", "CONNECT", "CREATE", "UPDATE"}, causes);
}

void check_mutation(const Json& mutation, const std::string& at, const ExpressionVariables& variables,
                    std::vector<Cause>& causes) {
  struct Patch {
    std::string_view type, field, other_field, result;
  };
  static constexpr std::array<Patch, 2> kPatches = {
      Patch{"ApplyConfiguration", "applyConfiguration", "jsonPatch", "Object"},
      Patch{"JSONPatch", "jsonPatch", "applyConfiguration", "list(JSONPatch)"}};
  std::string_view type = mutation["patchType"].string_or("");
  if (type.empty()) {
    causes.push_back(required(at + ".patchType", ""));
    return;
  }
  for (const Patch& patch : kPatches) {
    if (patch.type != type) continue;
    std::string here = fmt::format("{}.{}", at, patch.field);
    const Json& expression = mutation[patch.field]["expression"];
    if (mutation[patch.field].is_null())
      causes.push_back(required(here, fmt::format("must be specified when patchType is {}", type)));
    else if (is_blank(expression.string_or(""))) causes.push_back(required(here + ".expression", ""));
    else check_expression(expression, here + ".expression", patch.result, variables, causes, cel::Purpose::mutation);
    if (!mutation[patch.other_field].is_null())
      causes.push_back(invalid_value(fmt::format("{}.{}", at, patch.other_field),
                                     Json(fmt::format("{{{}}}", patch.other_field)),
                                     fmt::format("must not be specified when patchType is {}", type)));
    return;
  }
  causes.push_back(unsupported_value(at + ".patchType", mutation["patchType"], {"ApplyConfiguration", "JSONPatch"}));
}

}  // namespace

void validate_policy(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  ExpressionVariables variables = check_policy(spec, causes);
  const Json::Array &validations = spec["validations"].items(), &annotations = spec["auditAnnotations"].items();
  if (validations.empty() && annotations.empty())
    for (std::string_view field : {"validations", "auditAnnotations"})
      causes.push_back(
          required(fmt::format("spec.{}", field), "validations or auditAnnotations must contain at least one item"));
  for (size_t i = 0; i < validations.size(); ++i)
    check_validation(validations[i], fmt::format("spec.validations[{}]", i), variables, causes);
  for (size_t i = 0; i < annotations.size(); ++i) {
    std::string at = fmt::format("spec.auditAnnotations[{}].valueExpression", i);
    if (is_blank(annotations[i]["valueExpression"].string_or("")))
      causes.push_back(required(at, "valueExpression is not specified"));
    else check_expression(annotations[i]["valueExpression"], at, "", variables, causes);
  }
  check_static_name(live, object, causes);
}

void validate_binding(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  check_binding(spec, causes);
  const Json::Array& actions = spec["validationActions"].items();
  auto has = [&](std::string_view action) {
    return std::find(actions.begin(), actions.end(), Json(action)) != actions.end();
  };
  for (size_t i = 0; i < actions.size(); ++i) {
    std::string at = fmt::format("spec.validationActions[{}]", i);
    check_choice(actions[i], at, {"Audit", "Deny", "Warn"}, causes);
    if (std::find(actions.begin(), actions.begin() + std::ptrdiff_t(i), actions[i]) !=
        actions.begin() + std::ptrdiff_t(i))
      causes.push_back(duplicate_value(at, actions[i]));
  }
  if (has("Deny") && has("Warn"))
    causes.push_back(invalid_value("spec.validationActions", spec["validationActions"],
                                   "must not contain both Deny and Warn (repeating the same validation failure "
                                   "information in the API response and headers serves no purpose)"));
  if (actions.empty())
    causes.push_back(required("spec.validationActions", "at least one validation action is required"));
  check_static_name(live, object, causes);
}

void validate_mutating_policy(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  ExpressionVariables variables = check_policy(spec, causes);
  check_mutable(spec["matchConstraints"], "spec.matchConstraints", causes);
  const Json::Array& mutations = spec["mutations"].items();
  if (mutations.empty()) causes.push_back(required("spec.mutations", "mutations must contain at least one item"));
  for (size_t i = 0; i < mutations.size(); ++i)
    check_mutation(mutations[i], fmt::format("spec.mutations[{}]", i), variables, causes);
  if (spec["reinvocationPolicy"].string_or("").empty()) causes.push_back(required("spec.reinvocationPolicy", ""));
  else check_choice(spec["reinvocationPolicy"], "spec.reinvocationPolicy", {"IfNeeded", "Never"}, causes);
  check_static_name(live, object, causes);
}

void validate_mutating_binding(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  check_binding(spec, causes);
  check_mutable(spec["matchResources"], "spec.matchResources", causes);
  check_static_name(live, object, causes);
}

}  // namespace fairlead::sandbox

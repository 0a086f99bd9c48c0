#include "admission/criteria.h"

#include <algorithm>

#include "admission/internal/status.h"

namespace fairlead::admission {
namespace {

bool has_or_any(const std::vector<std::string>& items, std::string_view wanted) {
  return std::any_of(items.begin(), items.end(),
                     [&](const std::string& item) { return item == "*" || item == wanted; });
}

bool is_namespaces(const GroupVersionResource& resource) {
  return resource.group.empty() && resource.version == "v1" && resource.resource == "namespaces";
}

// "pods", "pods/status", "*", "*/*", "pods/*", "*/scale"
bool resource_matches(std::string_view pattern, std::string_view resource, std::string_view subresource) {
  size_t slash = pattern.find('/');
  std::string_view main = pattern.substr(0, slash);
  std::string_view sub = slash == std::string_view::npos ? std::string_view() : pattern.substr(slash + 1);
  return (main == "*" || main == resource) && (sub == "*" || sub == subresource);
}

bool name_fits(const Rule& rule, const Attributes& attributes) {
  return rule.names.empty() || std::find(rule.names.begin(), rule.names.end(), attributes.name) != rule.names.end();
}

}  // namespace

std::vector<std::string> read_strings(const Json& list) {
  std::vector<std::string> strings;
  for (const Json& item : list.items())
    if (const std::string* text = item.if_string()) strings.push_back(*text);
  return strings;
}

FailurePolicy read_failure_policy(const Json& value) {
  return value.string_or("") == "Ignore" ? FailurePolicy::ignore : FailurePolicy::fail;
}

MatchPolicy read_match_policy(const Json& value) {
  return value.string_or("") == "Exact" ? MatchPolicy::exact : MatchPolicy::equivalent;
}

Rule Rule::read(const Json& rule) {
  Rule result;
  result.operations = read_strings(rule["operations"]);
  result.groups = read_strings(rule["apiGroups"]);
  result.versions = read_strings(rule["apiVersions"]);
  result.resources = read_strings(rule["resources"]);
  result.names = read_strings(rule["resourceNames"]);
  std::string_view scope = rule["scope"].string_or("*");
  result.scope = scope == "*"            ? Scope::all
                 : scope == "Cluster"    ? Scope::cluster
                 : scope == "Namespaced" ? Scope::namespaced
                                         : Scope::other;
  return result;
}

bool Rule::matches(const Attributes& attributes, const GroupVersionResource& as) const {
  // A request for a Namespace carries that very namespace, and yet it has none.
  bool in_cluster = is_namespaces(as) || attributes.ns.empty();
  if (scope == Scope::other || (scope == Scope::cluster && !in_cluster) || (scope == Scope::namespaced && in_cluster))
    return false;
  return has_or_any(operations, name_of(attributes.operation)) && has_or_any(groups, as.group) &&
         has_or_any(versions, as.version) &&
         std::any_of(resources.begin(), resources.end(), [&](const std::string& pattern) {
           return resource_matches(pattern, as.resource, attributes.subresource);
         });
}

Result<std::optional<Target>> match_rules(const std::vector<Rule>& rules, MatchPolicy policy,
                                          const Attributes& attributes) {
  for (size_t i = 0; i < rules.size(); ++i)
    if (rules[i].matches(attributes, attributes.resource) && name_fits(rules[i], attributes))
      return Target{.rule = i, .resource = attributes.resource, .kind = attributes.kind};
  if (policy == MatchPolicy::exact) return std::nullopt;
  for (size_t i = 0; i < rules.size(); ++i) {
    for (const Equivalent& equivalent : attributes.equivalents) {
      if (equivalent.resource == attributes.resource || !rules[i].matches(attributes, equivalent.resource)) continue;
      if (equivalent.kind.kind.empty())
        return fail(ErrorKind::invalid, "unable to convert to {}/{}, Resource={}: unknown kind",
                    equivalent.resource.group, equivalent.resource.version, equivalent.resource.resource);
      if (name_fits(rules[i], attributes))
        return Target{.rule = i, .resource = equivalent.resource, .kind = equivalent.kind};
    }
  }
  return std::nullopt;
}

Result<object::Selector> read_selector(const Json& label_selector) {
  // The server puts an empty one where there is none.
  if (label_selector.is_null()) return object::Selector();
  return object::Selector::from_json(label_selector);
}

std::optional<Json> namespace_labels(const Attributes& attributes) {
  bool writes_namespace = attributes.resource.resource == "namespaces" && attributes.subresource.empty() &&
                          (attributes.operation == Operation::create || attributes.operation == Operation::update);
  if (writes_namespace) return attributes.object["metadata"]["labels"];
  if (attributes.ns_object.is_null()) return std::nullopt;
  return attributes.ns_object["metadata"]["labels"];
}

std::expected<bool, Json> match_namespace(const Result<object::Selector>& selector, const Attributes& attributes) {
  if (attributes.ns.empty() && attributes.resource.resource != "namespaces") return true;
  if (!selector) return std::unexpected(internal_error(selector.error().message()));
  if (selector->matches_everything()) return true;
  std::optional<Json> labels = namespace_labels(attributes);
  if (!labels) return std::unexpected(namespace_not_found(attributes.ns));
  return selector->matches(*labels);
}

std::expected<bool, Json> match_object(const Result<object::Selector>& selector, const Attributes& attributes) {
  if (!selector) return std::unexpected(internal_error(selector.error().message()));
  if (selector->matches_everything()) return true;
  auto matches = [&](const Json& object) {
    return object.is_object() && selector->matches(object["metadata"]["labels"]);
  };
  return matches(attributes.object) || matches(attributes.old_object);
}

Expression Expression::compile(std::string text, const std::vector<std::string_view>& variables, cel::Purpose purpose) {
  Result<cel::Program> program = cel::compile(text, variables, purpose);
  return {.text = std::move(text), .program = std::move(program)};
}

Result<cel::Value> Expression::evaluate(const cel::Bindings& bindings, size_t& budget) const {
  if (!program) {
    if (program.error().kind() == ErrorKind::limit) return std::unexpected(program.error());
    return fail(ErrorKind::invalid, "compilation error: compilation failed: {}", program.error().what());
  }
  size_t allowed = std::min(budget, cel::kCostLimit);
  size_t left = allowed;
  Result<cel::Value> value = program->evaluate(bindings, left);
  budget -= allowed - left;
  if (value || value.error().kind() == ErrorKind::limit) return value;
  return fail(ErrorKind::invalid, "expression '{}' resulted in error: {}", text, value.error().what());
}

std::vector<Condition> read_conditions(const Json& match_conditions, const std::vector<std::string_view>& variables) {
  std::vector<Condition> conditions;
  for (const Json& condition : match_conditions.items())
    conditions.push_back(
        {.name = std::string(condition["name"].string_or("")),
         .expression = Expression::compile(std::string(condition["expression"].string_or("")), variables)});
  return conditions;
}

Conditions evaluate_conditions(const std::vector<Condition>& conditions, FailurePolicy policy,
                               const cel::Bindings& bindings) {
  Conditions result;
  std::vector<std::string> errors;
  size_t budget = kConditionsBudget;
  for (const Condition& condition : conditions) {
    Result<cel::Value> value = condition.expression.evaluate(bindings, budget);
    if (!value) {
      bool is_limit = value.error().kind() == ErrorKind::limit;
      if (is_limit) result.undecided = true;
      else ++result.errors;
      if (!is_limit && std::find(errors.begin(), errors.end(), value.error().what()) == errors.end())
        errors.push_back(value.error().what());
      continue;
    }
    // Any one that is false decides, whatever the others end in.
    if (const bool* met = value->if_bool(); met != nullptr && !*met)
      return {.outcome = Conditions::Outcome::not_met,
              .undecided = false,
              .condition = condition.name,
              .error = {},
              .errors = result.errors};
  }
  if (errors.empty()) return result;
  if (policy == FailurePolicy::ignore) {
    result.outcome = Conditions::Outcome::not_met;
    return result;
  }
  result.outcome = Conditions::Outcome::failed;
  result.error = errors.size() == 1 ? errors[0] : fmt::format("[{}]", fmt::join(errors, ", "));
  return result;
}

}  // namespace fairlead::admission

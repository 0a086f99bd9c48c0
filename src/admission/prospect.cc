#include "admission/prospect.h"

#include <algorithm>
#include <memory>

#include "admission/exempt.h"
#include "admission/match.h"

namespace fairlead::admission {
namespace {

Certainty both(Certainty a, Certainty b) { return std::min(a, b); }

std::unexpected<Error> not_known() { return fail(ErrorKind::limit, "not known before the request is sent"); }

// An object of which more may be added: what it has is known, what it lacks is not, and lists are not known at all.
class Partial : public cel::Record {
 public:
  explicit Partial(const Json& json) : json_(json) {}

  std::optional<Result<cel::Value>> field(std::string_view name) const override {
    const Json* member = json_.members().find(name);
    if (member == nullptr || member->is_array() || member->is_null()) return not_known();
    if (!member->is_object()) return cel::Value::of(*member);
    for (const auto& part : parts_)
      if (&part->json_ == member) return cel::Value(*part);
    parts_.push_back(std::make_unique<Partial>(*member));
    return cel::Value(*parts_.back());
  }

 private:
  const Json& json_;
  mutable std::vector<std::unique_ptr<Partial>> parts_;
};

std::vector<Operation> operations_of(const Prospect& prospect) {
  std::vector<Operation> operations;
  if (prospect.may_create) operations.push_back(Operation::create);
  if (prospect.may_update) operations.push_back(Operation::update);
  return operations;
}

Attributes attributes_of(const Prospect& prospect, Operation operation) {
  Attributes attributes;
  attributes.operation = operation;
  attributes.resource = prospect.resource;
  attributes.kind = prospect.kind;
  attributes.ns = prospect.ns;
  attributes.name = prospect.object["metadata"]["name"].string_or("");
  attributes.object = prospect.object;
  attributes.equivalents = prospect.equivalents;
  if (prospect.ns_labels)
    attributes.ns_object = Json::Object{{"metadata", Json::Object{{"labels", *prospect.ns_labels}}}};
  return attributes;
}

// An update goes by labels of the object in the cluster as well.
Certainty by_selectors(const Result<object::Selector>& namespaces, const Result<object::Selector>& objects,
                       const Attributes& attributes) {
  Certainty result = Certainty::certainly;
  std::expected<bool, Json> in_namespace = match_namespace(namespaces, attributes);
  bool namespace_known = namespace_labels(attributes).has_value() || !namespaces || namespaces->matches_everything();
  if (!in_namespace) {
    // A selector that cannot be read ends the request, and so guards it; a namespace that is not known may fit.
    result = both(result, namespace_known ? Certainty::certainly : Certainty::maybe);
  } else if (!*in_namespace) {
    return Certainty::never;
  }
  if (!objects || objects->matches_everything()) return result;
  std::expected<bool, Json> by_labels = match_object(objects, attributes);
  if (attributes.operation == Operation::update) return both(result, Certainty::maybe);
  return by_labels && *by_labels ? result : Certainty::never;
}

Certainty by_conditions(const std::vector<Condition>& conditions, FailurePolicy policy, const Attributes& attributes,
                        const Target& target) {
  if (conditions.empty()) return Certainty::certainly;
  Result<Json> object = in_version(attributes, attributes.object, target.kind);
  if (!object) return Certainty::maybe;
  Json request = request_json(attributes, target.resource, target.kind);
  // Who sends it, and how, is not known.
  for (std::string_view field : {"userInfo", "dryRun", "options"}) request.if_object()->erase(field);
  Partial known_object(*object);
  Partial known_request(request);
  Json nothing = Json::Object();
  Partial unknown(nothing);
  cel::Value old_object = attributes.operation == Operation::create ? cel::Value() : cel::Value(unknown);
  Conditions result = evaluate_conditions(conditions, policy,
                                          {{"object", cel::Value(known_object)},
                                           {"oldObject", old_object},
                                           {"request", cel::Value(known_request)},
                                           {"namespaceObject", cel::Value(unknown)},
                                           {"params", cel::Value(unknown)},
                                           {"variables", cel::Value(unknown)}});
  if (result.outcome == Conditions::Outcome::not_met) return Certainty::never;
  return result.undecided || result.outcome == Conditions::Outcome::failed ? Certainty::maybe : Certainty::certainly;
}

template <class Judge>
Certainty over_operations(const Prospect& prospect, Judge judge) {
  Certainty least = Certainty::certainly;
  Certainty most = Certainty::never;
  for (Operation operation : operations_of(prospect)) {
    Certainty certainty = judge(attributes_of(prospect, operation));
    least = std::min(least, certainty);
    most = std::max(most, certainty);
  }
  if (most == Certainty::never) return Certainty::never;
  return least == Certainty::certainly ? Certainty::certainly : Certainty::maybe;
}

// As what it is matched, and how certainly.
struct Likely {
  Certainty certainty = Certainty::never;
  Target target;
};

Likely by_resources(const MatchResources& wanted, const Attributes& attributes) {
  Likely result;
  if (surely_exclude(wanted.exclude_rules, wanted.match_policy, attributes)) return result;
  result.target = {.rule = 0, .resource = attributes.resource, .kind = attributes.kind};
  if (!wanted.rules.empty()) {
    Result<std::optional<Target>> target = match_rules(wanted.rules, wanted.match_policy, attributes);
    if (target && !*target) return result;
    if (target) result.target = **target;
  }
  result.certainty = by_selectors(wanted.namespace_selector, wanted.object_selector, attributes);
  return result;
}

}  // namespace

std::string_view name_of(Certainty certainty) {
  switch (certainty) {
    case Certainty::never: return "never";
    case Certainty::maybe: return "maybe";
    case Certainty::certainly: return "certainly";
  }
  return "";
}

Certainty could_match(const Webhook& webhook, const Prospect& prospect) {
  if (is_exempt_from_webhooks(prospect.resource)) return Certainty::never;
  return over_operations(prospect, [&](const Attributes& attributes) {
    Result<std::optional<Target>> target = match_rules(webhook.rules, webhook.match_policy, attributes);
    if (!target) return Certainty::maybe;
    if (!*target) return Certainty::never;
    Certainty selected = by_selectors(webhook.namespace_selector, webhook.object_selector, attributes);
    if (selected == Certainty::never) return selected;
    return both(selected, by_conditions(webhook.conditions, webhook.failure_policy, attributes, **target));
  });
}

Certainty could_match(const Policy& policy, const Binding& binding, const Prospect& prospect) {
  if (binding.kind != policy.kind || binding.policy != policy.name || !policy.constraints) return Certainty::never;
  if (is_exempt_from_policies(prospect.resource)) return Certainty::never;
  return over_operations(prospect, [&](const Attributes& attributes) {
    Likely likely = by_resources(*policy.constraints, attributes);
    if (likely.certainty == Certainty::never) return Certainty::never;
    Certainty bound = binding.resources ? by_resources(*binding.resources, attributes).certainty : Certainty::certainly;
    if (bound == Certainty::never) return Certainty::never;
    // A binding that needs parameters may turn out to have none.
    if (policy.param_kind && binding.param_ref) bound = both(bound, Certainty::maybe);
    return both(both(likely.certainty, bound),
                by_conditions(policy.conditions, policy.failure_policy, attributes, likely.target));
  });
}

}  // namespace fairlead::admission

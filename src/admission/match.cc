#include "admission/match.h"

#include "admission/exempt.h"
#include "admission/internal/status.h"

namespace fairlead::admission {
namespace {

Match refused(Json status) {
  return {.outcome = Match::Outcome::refused,
          .target = {},
          .undecided = false,
          .condition = {},
          .status = std::move(status)};
}

}  // namespace

Match match(const Webhook& webhook, const Attributes& attributes) {
  if (is_exempt_from_webhooks(attributes.resource)) return {};
  // What is wrong with a selector counts only once the rest fits.
  std::expected<bool, Json> in_namespace = match_namespace(webhook.namespace_selector, attributes);
  if (in_namespace && !*in_namespace) return {};
  std::expected<bool, Json> by_labels = match_object(webhook.object_selector, attributes);
  if (by_labels && !*by_labels) return {};

  Result<std::optional<Target>> target = match_rules(webhook.rules, webhook.match_policy, attributes);
  if (!target) return refused(internal_error(target.error().what()));
  if (!*target) return {};
  if (!in_namespace) return refused(std::move(in_namespace).error());
  if (!by_labels) return refused(std::move(by_labels).error());

  Match result{
      .outcome = Match::Outcome::yes, .target = **std::move(target), .undecided = false, .condition = {}, .status = {}};
  if (webhook.conditions.empty()) return result;
  Result<Json> object = in_version(attributes, attributes.object, result.target.kind);
  Result<Json> old_object = in_version(attributes, attributes.old_object, result.target.kind);
  if (!object) return refused(internal_error(object.error().message()));
  if (!old_object) return refused(internal_error(old_object.error().message()));
  Json request = request_json(attributes, result.target.resource, result.target.kind);
  // Conditions of webhooks do not see the namespace.
  Conditions conditions = evaluate_conditions(webhook.conditions, webhook.failure_policy,
                                              {{"object", cel::Value::of(*object)},
                                               {"oldObject", cel::Value::of(*old_object)},
                                               {"request", cel::Value::of(request)}});
  switch (conditions.outcome) {
    case Conditions::Outcome::met: result.undecided = conditions.undecided; break;
    case Conditions::Outcome::not_met:
      result = {.outcome = Match::Outcome::no,
                .target = {},
                .undecided = false,
                .condition = conditions.condition,
                .status = {}};
      break;
    case Conditions::Outcome::failed:
      result = refused(forbidden(attributes.resource, attributes.name, conditions.error));
      break;
  }
  result.condition_errors = conditions.errors;
  return result;
}

bool may_guard(const std::vector<Rule>& rules, MatchPolicy policy, const Attributes& attributes) {
  Result<std::optional<Target>> target = match_rules(rules, policy, attributes);
  return !target || *target;
}

bool surely_exclude(const std::vector<Rule>& rules, MatchPolicy policy, const Attributes& attributes) {
  Result<std::optional<Target>> target = match_rules(rules, policy, attributes);
  return target && *target;
}

}  // namespace fairlead::admission

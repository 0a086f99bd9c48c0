#include "graph/internal/match_filter.h"

#include "admission/exempt.h"
#include "admission/match.h"

namespace fairlead::graph {
namespace {

using admission::Certainty;

MatchFilter filter_of(const admission::MatchResources& resources) {
  return {.rules = &resources.rules,
          .excluded = &resources.exclude_rules,
          .match_policy = resources.match_policy,
          .namespaces = &resources.namespace_selector,
          .objects = &resources.object_selector,
          .open = resources.rules.empty()};
}

bool names_objects(const std::vector<admission::Rule>* rules) {
  return rules != nullptr &&
         std::ranges::any_of(*rules, [](const admission::Rule& rule) { return !rule.names.empty(); });
}

// A selector that cannot be parsed is not trivial: the API server rejects every request that it is evaluated for.
bool is_trivial(const Result<object::Selector>* selector) { return *selector && (*selector)->matches_everything(); }

}  // namespace

MatchFilters::MatchFilters(const GuardMatcher& matcher) : matcher_(matcher) {
  if (matcher.webhook != nullptr) {
    filters_.push_back({.rules = &matcher.webhook->rules,
                        .excluded = nullptr,
                        .match_policy = matcher.webhook->match_policy,
                        .namespaces = &matcher.webhook->namespace_selector,
                        .objects = &matcher.webhook->object_selector,
                        .open = false});
    looks_at_objects_ = !matcher.webhook->conditions.empty();
  } else if (matcher.policy && matcher.policy->constraints) {
    filters_.push_back(filter_of(*matcher.policy->constraints));
    if (matcher.binding->resources) filters_.push_back(filter_of(*matcher.binding->resources));
    looks_at_objects_ = !matcher.policy->conditions.empty();
  }
  for (const MatchFilter& filter : filters_) {
    looks_at_namespaces_ |= !is_trivial(filter.namespaces);
    looks_at_labels_ |= !is_trivial(filter.objects);
    looks_at_objects_ |= names_objects(filter.rules) || names_objects(filter.excluded);
  }
}

bool MatchFilters::is_exempt(const Kind& kind) const {
  return matcher_.webhook != nullptr ? admission::is_exempt_from_webhooks(kind.resource)
                                     : admission::is_exempt_from_policies(kind.resource);
}

Certainty MatchFilters::by_rules(const Kind& kind, bool only_create) const {
  if (filters_.empty() || is_exempt(kind)) return Certainty::never;
  bool by_name = std::ranges::any_of(
      filters_, [](const MatchFilter& s) { return names_objects(s.rules) || names_objects(s.excluded); });
  if (by_name) return Certainty::maybe;
  admission::Attributes attributes;
  attributes.resource = kind.resource;
  attributes.kind = kind.kind;
  attributes.equivalents = kind.equivalents;
  // Rules depend on whether there is a namespace, not on its name.
  if (kind.namespaced || kind.family == Family::name_space) attributes.ns = "x";
  auto matches = [&](admission::Operation operation) {
    attributes.operation = operation;
    return std::ranges::all_of(filters_, [&](const MatchFilter& filter) {
      if (filter.excluded != nullptr && surely_exclude(*filter.excluded, filter.match_policy, attributes)) return false;
      return filter.open || may_guard(*filter.rules, filter.match_policy, attributes);
    });
  };
  bool create = matches(admission::Operation::create);
  bool update = only_create ? create : matches(admission::Operation::update);
  // A binding with parameters may turn out to have none.
  bool needs_parameters = matcher_.policy && matcher_.policy->param_kind && matcher_.binding->param_ref;
  if (create && update) return needs_parameters ? Certainty::maybe : Certainty::certainly;
  return create || update ? Certainty::maybe : Certainty::never;
}

Certainty MatchFilters::by_namespace(const std::optional<Json>& labels) const {
  Certainty certainty = Certainty::certainly;
  for (const MatchFilter& filter : filters_) {
    const Result<object::Selector>& selector = *filter.namespaces;
    if (!selector || selector->matches_everything()) continue;
    if (!labels) certainty = Certainty::maybe;
    else if (!selector->matches(*labels)) return Certainty::never;
  }
  return certainty;
}

bool MatchFilters::by_labels(const Json& labels) const {
  return std::ranges::all_of(
      filters_, [&](const MatchFilter& filter) { return !*filter.objects || (*filter.objects)->matches(labels); });
}

}  // namespace fairlead::graph

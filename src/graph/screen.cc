#include "graph/screen.h"

#include "admission/exempt.h"
#include "admission/match.h"

namespace fairlead::graph {
namespace {

using admission::Certainty;

Screen screen_of(const admission::MatchResources& resources) {
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

// A rule that cannot be matched against some version may still match.
bool may_match(const std::vector<admission::Rule>& rules, admission::MatchPolicy policy,
               const admission::Attributes& attributes) {
  Result<std::optional<admission::Target>> target = admission::match_rules(rules, policy, attributes);
  return !target || *target;
}

// A selector that cannot be read ends every request that comes to it.
bool is_trivial(const Result<object::Selector>* selector) { return *selector && (*selector)->matches_everything(); }

}  // namespace

Screens::Screens(const Watcher& watcher) : watcher_(watcher) {
  if (watcher.webhook != nullptr) {
    screens_.push_back({.rules = &watcher.webhook->rules,
                        .excluded = nullptr,
                        .match_policy = watcher.webhook->match_policy,
                        .namespaces = &watcher.webhook->namespace_selector,
                        .objects = &watcher.webhook->object_selector,
                        .open = false});
    looks_at_objects_ = !watcher.webhook->conditions.empty();
  } else if (watcher.policy && watcher.policy->constraints) {
    screens_.push_back(screen_of(*watcher.policy->constraints));
    if (watcher.binding->resources) screens_.push_back(screen_of(*watcher.binding->resources));
    looks_at_objects_ = !watcher.policy->conditions.empty();
  }
  for (const Screen& screen : screens_) {
    looks_at_namespaces_ |= !is_trivial(screen.namespaces);
    looks_at_labels_ |= !is_trivial(screen.objects);
    looks_at_objects_ |= names_objects(screen.rules) || names_objects(screen.excluded);
  }
}

bool Screens::is_exempt(const Kind& kind) const {
  return watcher_.webhook != nullptr ? admission::is_exempt_from_webhooks(kind.resource)
                                     : admission::is_exempt_from_policies(kind.resource);
}

Certainty Screens::by_rules(const Kind& kind, bool only_create) const {
  if (screens_.empty() || is_exempt(kind)) return Certainty::never;
  bool by_name = std::ranges::any_of(
      screens_, [](const Screen& s) { return names_objects(s.rules) || names_objects(s.excluded); });
  if (by_name) return Certainty::maybe;
  admission::Attributes attributes;
  attributes.resource = kind.resource;
  attributes.kind = kind.kind;
  attributes.equivalents = kind.equivalents;
  // Which one does not matter to rules, only whether it has one.
  if (kind.namespaced || kind.family == Family::name_space) attributes.ns = "x";
  auto matches = [&](admission::Operation operation) {
    attributes.operation = operation;
    return std::ranges::all_of(screens_, [&](const Screen& screen) {
      if (screen.excluded != nullptr && may_match(*screen.excluded, screen.match_policy, attributes)) return false;
      return screen.open || may_match(*screen.rules, screen.match_policy, attributes);
    });
  };
  bool create = matches(admission::Operation::create);
  bool update = only_create ? create : matches(admission::Operation::update);
  // A binding that needs parameters may turn out to have none.
  bool needs_parameters = watcher_.policy && watcher_.policy->param_kind && watcher_.binding->param_ref;
  if (create && update) return needs_parameters ? Certainty::maybe : Certainty::certainly;
  return create || update ? Certainty::maybe : Certainty::never;
}

Certainty Screens::by_namespace(const std::optional<Json>& labels) const {
  Certainty certainty = Certainty::certainly;
  for (const Screen& screen : screens_) {
    const Result<object::Selector>& selector = *screen.namespaces;
    if (!selector || selector->matches_everything()) continue;
    if (!labels) certainty = Certainty::maybe;
    else if (!selector->matches(*labels)) return Certainty::never;
  }
  return certainty;
}

bool Screens::by_labels(const Json& labels) const {
  return std::ranges::all_of(
      screens_, [&](const Screen& screen) { return !*screen.objects || (*screen.objects)->matches(labels); });
}

}  // namespace fairlead::graph

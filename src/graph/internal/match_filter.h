// Matches a guard in separate steps, so that a step with the same result for many objects is done once.
#pragma once

#include "graph/internal/guards.h"

namespace fairlead::graph {

// One set of rules and selectors. A webhook has one set. A policy has its own set, and its binding may have another.
struct MatchFilter {
  const std::vector<admission::Rule>* rules = nullptr;
  const std::vector<admission::Rule>* excluded = nullptr;
  admission::MatchPolicy match_policy = admission::MatchPolicy::equivalent;
  const Result<object::Selector>* namespaces = nullptr;
  const Result<object::Selector>* objects = nullptr;
  // True if there are no rules, so that every kind matches.
  bool open = false;
};

// The filters of one guard. An object has to match all of them.
class MatchFilters {
 public:
  explicit MatchFilters(const GuardMatcher& matcher);

  bool empty() const { return filters_.empty(); }
  // Compares the rules with a kind. Set `only_create` for the pods of a workload, which are only ever created.
  admission::Certainty by_rules(const Kind& kind, bool only_create) const;
  // Compares the namespaceSelectors with the labels of a namespace. Returns at most `maybe` if the labels are not known
  // and a selector needs them.
  admission::Certainty by_namespace(const std::optional<Json>& labels) const;
  // Compares the objectSelectors with the labels of an object.
  bool by_labels(const Json& labels) const;

  bool looks_at_namespaces() const { return looks_at_namespaces_; }
  bool looks_at_labels() const { return looks_at_labels_; }
  // True if the guard has matchConditions or rules with resourceNames: then the whole object decides.
  bool looks_at_objects() const { return looks_at_objects_; }

 private:
  bool is_exempt(const Kind& kind) const;

  const GuardMatcher& matcher_;
  std::vector<MatchFilter> filters_;
  bool looks_at_namespaces_ = false;
  bool looks_at_labels_ = false;
  bool looks_at_objects_ = false;
};

}  // namespace fairlead::graph

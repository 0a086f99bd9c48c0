// The steps of matching a guard, each by itself, so that what many objects share is decided once.
#pragma once

#include "graph/guards.h"

namespace fairlead::graph {

// One set of rules and selectors: a webhook has one, a policy its own and that of its binding.
struct MatchFilter {
  const std::vector<admission::Rule>* rules = nullptr;
  const std::vector<admission::Rule>* excluded = nullptr;
  admission::MatchPolicy match_policy = admission::MatchPolicy::equivalent;
  const Result<object::Selector>* namespaces = nullptr;
  const Result<object::Selector>* objects = nullptr;
  // No rules: everything.
  bool open = false;
};

class MatchFilters {
 public:
  explicit MatchFilters(const GuardMatcher& matcher);

  bool empty() const { return filters_.empty(); }
  // As far as rules go. Pods that a workload makes are only ever created.
  admission::Certainty by_rules(const Kind& kind, bool only_create) const;
  // By the labels of a namespace; nothing where they are not known.
  admission::Certainty by_namespace(const std::optional<Json>& labels) const;
  bool by_labels(const Json& labels) const;

  bool looks_at_namespaces() const { return looks_at_namespaces_; }
  bool looks_at_labels() const { return looks_at_labels_; }
  // It has conditions, or names objects: the whole of an object decides.
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

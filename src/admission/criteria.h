// What webhooks and policies share in saying which requests they want: selectors, rules, and conditions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admission/attributes.h"
#include "base/error.h"
#include "cel/cel.h"
#include "object/selector.h"

namespace fairlead::admission {

enum class FailurePolicy { fail, ignore };
enum class MatchPolicy { exact, equivalent };

struct Rule {
  // `other` is a word that no server knows: it matches nothing.
  enum class Scope { all, cluster, namespaced, other };
  std::vector<std::string> operations;
  std::vector<std::string> groups;
  std::vector<std::string> versions;
  std::vector<std::string> resources;
  Scope scope = Scope::all;
  // Of policies only; empty is any name.
  std::vector<std::string> names;

  static Rule read(const Json& rule);
  // As that resource, which may be another version of the one that is asked for.
  bool matches(const Attributes& attributes, const GroupVersionResource& resource) const;
};

// As which version a request was matched, and by which rule.
struct Target {
  size_t rule = 0;
  GroupVersionResource resource;
  GroupVersionKind kind;
};

// The first rule for the request as it is, else the first for one of its equivalents, if the policy allows that. An
// error is an equivalent without a kind.
Result<std::optional<Target>> match_rules(const std::vector<Rule>& rules, MatchPolicy policy,
                                          const Attributes& attributes);

// Selectors that cannot be read are kept as errors: they count only for requests that the rules match.
Result<object::Selector> read_selector(const Json& label_selector);

// Errors of the selectors, in order; each is a whole Status.
std::expected<bool, Json> match_namespace(const Result<object::Selector>& selector, const Attributes& attributes);
std::expected<bool, Json> match_object(const Result<object::Selector>& selector, const Attributes& attributes);

// The labels that a namespaceSelector looks at; nothing if there is no such namespace.
std::optional<Json> namespace_labels(const Attributes& attributes);

struct Expression {
  std::string text;
  Result<cel::Program> program;

  static Expression compile(std::string text, const std::vector<std::string_view>& variables,
                            cel::Purpose purpose = cel::Purpose::decision);
  // What is wrong in the server's words. ErrorKind::limit where it cannot be told here. Takes its cost off the budget.
  Result<cel::Value> evaluate(const cel::Bindings& bindings, size_t& budget) const;
};

struct Condition {
  std::string name;
  Expression expression;
};
std::vector<Condition> read_conditions(const Json& match_conditions, const std::vector<std::string_view>& variables);

struct Conditions {
  enum class Outcome { met, not_met, failed };
  Outcome outcome = Outcome::met;
  // Met as far as can be told here: some condition cannot be evaluated, and was counted as met.
  bool undecided = false;
  // The first that is not met.
  std::string condition;
  // What is wrong, where the failure policy does not hide it.
  std::string error;
  // How many conditions could not be evaluated.
  size_t errors = 0;
};
Conditions evaluate_conditions(const std::vector<Condition>& conditions, FailurePolicy policy,
                               const cel::Bindings& bindings);

// What all the conditions of one webhook or policy may cost together, and the validations of one binding.
inline constexpr size_t kConditionsBudget = 2'500'000;
inline constexpr size_t kValidationsBudget = 10'000'000;

FailurePolicy read_failure_policy(const Json& value);
MatchPolicy read_match_policy(const Json& value);
std::vector<std::string> read_strings(const Json& list);

}  // namespace fairlead::admission

// What validating and mutating policies share in meeting a request: their parameters, variables and conditions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "admission/policy.h"

namespace fairlead::admission {

// The variables of a policy: each is evaluated once, when it is first asked for, and may use those before it.
class Variables : public cel::Record {
 public:
  Variables(const std::vector<Policy::Variable>& variables, cel::Bindings bindings, size_t& budget);

  std::optional<Result<cel::Value>> field(std::string_view name) const override;

  // Those that were given, and `variables`.
  const cel::Bindings& bindings() const { return bindings_; }

 private:
  Result<cel::Value> value(size_t i) const;
  Result<cel::Value> evaluate(const Policy::Variable& variable) const;

  const std::vector<Policy::Variable>& variables_;
  cel::Bindings bindings_;
  size_t& budget_;
  mutable std::vector<std::optional<Result<cel::Value>>> done_;
};

inline bool belongs(const Binding& binding, const Policy& policy) {
  return binding.kind == policy.kind && binding.policy == policy.name;
}

// As which version the policy wants the request. Errors are those of its configuration.
Result<std::optional<Target>> match_policy(const Policy& policy, const Attributes& attributes);

// What is there of the policy's kind of parameters; nothing if it has none. An error if the kind is not known.
Result<std::optional<Params>> find_params(const Policy& policy, const ParamSource& source);

// The parameters that the binding chooses, one for each time that the policy is evaluated. Null stands for "none
// needed". If there is none at all, the binding does not count.
Result<std::vector<Json>> choose_params(const Binding& binding, const std::optional<Params>& params,
                                        const Attributes& attributes);

// The namespace with the fields that expressions may see; null for a request that is in none. Nothing if the namespace
// is not there.
std::optional<Json> visible_namespace(const Attributes& attributes);

// Whether the policy's conditions are met. They do not see the namespace.
Conditions policy_conditions(const Policy& policy, const cel::Bindings& values);

}  // namespace fairlead::admission

// Expressions in CEL when they are stored: what the real server's compiler refuses of them. What is outside of the part
// of CEL that is read here is taken for right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cel/cel.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

using ExpressionVariables = std::vector<std::string_view>;

// Nothing in it but spaces.
bool is_blank(std::string_view text);

// `type` is what has to come out; empty: anything.
void check_expression(const Json& expression, const std::string& at, std::string_view type,
                      const ExpressionVariables& variables, std::vector<Cause>& causes,
                      cel::Purpose purpose = cel::Purpose::decision);

// The matchConditions of a webhook or policy.
void check_conditions(const Json& conditions, const std::string& at, const ExpressionVariables& variables,
                      std::vector<Cause>& causes);

}  // namespace fairlead::sandbox

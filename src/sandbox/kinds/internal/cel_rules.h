// x-kubernetes-validations: the rules in CEL that a custom resource's schema has, at every level of it.
#pragma once

#include <string>
#include <vector>

#include "sandbox/core/status.h"

namespace fairlead::sandbox {

struct RuleFindings {
  std::vector<Cause> causes;
  // The first rule that cannot be evaluated here; empty if all could.
  std::string undecided;
};
// `old` is null for a new object: rules about `oldSelf` are for updates only.
RuleFindings check_rules(const Json& schema, const Json* old, const Json& object);

}  // namespace fairlead::sandbox

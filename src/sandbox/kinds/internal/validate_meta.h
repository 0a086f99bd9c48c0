// metadata: names, labels, owners, finalizers, and what may not change.
#pragma once

#include <vector>

#include "sandbox/core/kinds.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

void validate_metadata(const Kind& kind, const Json* live, const Json& object, std::vector<Cause>& causes);

// What is wrong with a label's value, a label's or annotation's key; empty if nothing is.
std::vector<std::string> label_value_flaws(std::string_view value);
std::vector<std::string> qualified_name_flaws(std::string_view name);
std::vector<std::string> dns_subdomain_flaws(std::string_view name);

}  // namespace fairlead::sandbox

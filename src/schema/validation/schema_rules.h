// The openAPIV3Schema of a CustomResourceDefinition: what the API server refuses of it. A schema has to be structural
// (every field has its type outside of allOf, anyOf, oneOf and not), and to keep clear of what Kubernetes does not
// take.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "schema/types/refusal.h"

namespace fairlead::schema {

// `path` is where it stands: "spec.validation.openAPIV3Schema". Defaults that do not fit, and rules in CEL, are not
// looked at.
std::vector<Cause> flaws_of_schema(const Json& schema, const std::string& path);

}  // namespace fairlead::schema

// Filling in what an object leaves out.
#pragma once

#include "schema/defaults/internal/default_rule.h"
#include "schema/types/type.h"

namespace fairlead::schema {

// A built-in object, in its stored form (stored.h), with the defaults of its types: those of the schema itself and
// those of default_rules.h. An object that has them all is left as it is. Custom resources have their own:
// structural.h.
Json with_defaults(const Schema& schema, const Json& object, const DefaultRules& rules = DefaultRules::builtin());

}  // namespace fairlead::schema

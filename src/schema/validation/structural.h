// Custom resources against the openAPIV3Schema of their CustomResourceDefinition: what the API server removes from
// them, adds to them, and refuses. The schema is read as it stands in the CRD; null means that everything goes.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "schema/types/refusal.h"

namespace fairlead::schema {

struct Pruned {
  Json object;
  // What was removed: "spec.x", "spec.list[0].y". Sorted. This is what strict validation refuses.
  std::vector<std::string> unknown;
};
// Removes fields that the schema (or, for metadata, the server) does not know, and nulls where it wants something else
// and has no default.
Pruned prune(const Json& schema, const Json& object);

// Without the nulls that the schema does not allow, whether it has a default for them or not. Nulls in fields that it
// does not describe stay.
Json without_unwanted_nulls(const Json& schema, Json object);

// Fills in the defaults of the schema, at every level that is there.
Json with_structural_defaults(const Json& schema, const Json& object);

// Everything that is wrong with the object; empty if it is taken. What was wrong before (`live`, null on creation) and
// has not been touched is forgiven. Rules in CEL are not looked at: see uses_cel.
std::vector<Cause> violations(const Json& schema, const Json& object, const Json& live = Json());

// What is wrong with the objects within it that the schema calls resources: apiVersion and kind have to be there.
std::vector<Cause> embedded_violations(const Json& schema, const Json& object);

// Whether the schema has x-kubernetes-validations anywhere, so that violations() is not the whole answer.
bool uses_cel(const Json& schema);

}  // namespace fairlead::schema

// An object against its types: does it fit, which fields has it, how do two of them differ, how are two of them merged.
//
// The rules are those of the API server's server-side apply, to the word where they are shown. Absent and null are
// different things here, as they are there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fields/field_set.h"
#include "schema/types/type.h"

namespace fairlead::schema {

struct Misfit {
  std::string path;  // ".spec.replicas"; empty for the object itself
  std::string what;
};
// ".spec.x: field not declared in schema", or several of them a line each.
std::string text_of(const std::vector<Misfit>& misfits);

// An object that was applied may not name an item of a set or of a list of kind map twice; one that is stored may.
enum class Duplicates { refused, allowed };
std::vector<Misfit> misfits(const Schema& schema, const Json& object, Duplicates duplicates);

// Every field that the object sets. The object must fit.
fields::FieldSet field_set(const Schema& schema, const Json& object);

// What `configuration` sets, over what `live` has. Nothing is removed by this. Both must fit.
Json merge(const Schema& schema, const Json& live, const Json& configuration);

// The paths of lists, maps and structures in the object that can only be replaced as a whole: ".spec.args". The object
// must fit.
std::vector<std::string> atomic_parts(const Schema& schema, const Json& object);

struct Comparison {
  fields::FieldSet removed, modified, added;
};
Comparison compare(const Schema& schema, const Json& before, const Json& after);

// The object without these fields.
Json without(const Schema& schema, const Json& object, const fields::FieldSet& fields);

// The set, with every field of a structure that the set leads through: these are owned by whoever owns a part of them.
fields::FieldSet with_parents(const Schema& schema, const fields::FieldSet& set);

// The set as it would be had it been written under this schema, where something that was granular is now atomic.
fields::FieldSet reconciled(const Schema& schema, const fields::FieldSet& set);

}  // namespace fairlead::schema

// What the API server fills in where a built-in object says nothing, and its OpenAPI does not tell either.
#pragma once

#include <string_view>

namespace fairlead::schema {

// A text, for people to read and defaults.cc to follow. A line that is not indented names a type, the lines below it
// are its rules, followed in their order, outer types before the types inside them:
//   PATH = VALUE               sets it if it is not set and the object that it belongs to is there
//   PATH := VALUE              sets it in any case
//   PATH fills from PATH       takes every member that it does not have
//   PATH drops                 removes it
// each with `when CONDITION and CONDITION …`:
//   PATH is VALUE, PATH is not VALUE, PATH is set, PATH is unset, PATH is latest (an image without tag or with that
//   one), only PATH (no other member is set)
// A path leads down by names; [] stands for every item of a list, ["…"] for a name with dots. A VALUE is JSON, or $PATH
// for the value of another field, or lower $PATH, or $PATH + "text": $name beside the field that is set, $/path from
// the top of the type. Paths of conditions start at the top of the type. tests/record_defaults.py holds every one of
// these against a real server.
extern const std::string_view kDefaultRules;

}  // namespace fairlead::schema

// What a YAML scalar means: the rules of kubectl's YAML reader for null, booleans, integers and floats.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::yaml {

// A scalar as the parser delivers it. Without a tag, `plain` says that its text decides what it is.
struct Scalar {
  std::string_view text;
  std::string_view tag;
  bool plain = false;
};

// The value, or what is wrong with it. Floats are doubles here, even integral, infinite and NaN ones: see as_value.
// Problems never quote the text, which may be a secret.
std::expected<Json, std::string> resolve(const Scalar& scalar);

// As a value of a document: doubles that are integral become integers, as they do when Go writes JSON. Infinity and NaN
// have no JSON form.
std::expected<Json, std::string> as_value(Json resolved);

// As the key of a member. Null, objects, arrays and integers above int64 cannot be keys.
std::expected<std::string, std::string> as_key(Json resolved);

// All doubles in a value as as_value has them.
void make_integral_doubles_integers(Json& value);

}  // namespace fairlead::yaml

// Terraform's values on the wire: MessagePack, read and written by the type that both sides know from the schema.
//
// What Terraform adds to MessagePack: any extension is an unknown value (also with refinements, which are passed over);
// a number comes as an integer, a float or decimal text; a value of type `dynamic` is a pair of its type, as JSON, and
// the value.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "terraform/value/type.h"
#include "terraform/value/value.h"

namespace fairlead::terraform {

// Hostile input is an error of kind `protocol` or `limit`. Attributes of an object that are missing become null.
Result<Value> decode_msgpack(std::string_view bytes, const Type& type);

// Every attribute of an object is written. Fails if the value does not conform to the type.
Result<std::string> encode_msgpack(const Value& value, const Type& type);

}  // namespace fairlead::terraform

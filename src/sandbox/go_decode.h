// An object against the Go types of a built-in kind, as the real server's decoder sees it: what it cannot take, in its
// words, and what it does not know.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/type.h"

namespace fairlead::sandbox {

struct Decoding {
  // "json: cannot unmarshal string into Go struct field LeaseSpec.spec.x of type int32"; the first of them.
  std::optional<std::string> error;
  // "spec.x", "spec.list[0].y", in the order of the text.
  std::vector<std::string> unknown;
};
Decoding decode_as(const schema::Schema& schema, const Json& object);

}  // namespace fairlead::sandbox

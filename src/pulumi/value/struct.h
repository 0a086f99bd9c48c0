// What Pulumi sends and gets: google.protobuf.Struct, as Json.
//
// This is the room's first header. The room is pure. envelope.h knows what marks secrets and unknown values in there.
#pragma once

#include <string_view>

#include "base/json.h"
#include "protobuf/wire.h"

namespace fairlead::pulumi {

// Returns an object. Its members are sorted by name, since their order in the message means nothing. Numbers without a
// fraction are integers, as far as a double holds them exactly.
Result<Json> read_struct(std::string_view bytes);

// The message for an object; that of anything else is empty.
protobuf::WireWriter struct_message(const Json& object);

}  // namespace fairlead::pulumi

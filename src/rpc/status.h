// How a call of gRPC ends when it does not succeed.
#pragma once

#include <expected>
#include <string>

namespace fairlead::rpc {

enum class Code {
  ok = 0,
  cancelled = 1,
  unknown = 2,
  invalid_argument = 3,
  not_found = 5,
  resource_exhausted = 8,
  failed_precondition = 9,
  unimplemented = 12,
  internal = 13,
  unavailable = 14,
};

struct Status {
  Code code = Code::ok;
  std::string message;
  // A message google.rpc.Status with more about it, or nothing.
  std::string details = {};
};

// The bytes of a protobuf message, or why there is none.
using Answer = std::expected<std::string, Status>;

}  // namespace fairlead::rpc

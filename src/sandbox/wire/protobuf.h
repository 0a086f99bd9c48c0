// Bodies in the protobuf encoding of Kubernetes, which typed clients prefer to JSON.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::sandbox {

inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

// "k8s\0" and a runtime.Unknown, into the JSON of the same object; zero values that were sent are there.
//
// What a real server refuses, in the words of its decoder: of kind invalid where it is not even known what it should
// be; of kind protocol where that is known ("Deployment in version "v1"" is the outer layer). What a real server would
// take and this does not (fields that come twice, values deeper than any type needs) is of kind limit.
Result<Json> decode_protobuf(std::string_view body);

}  // namespace fairlead::sandbox

// The messages of Kubernetes' protobuf encoding, as scripts/protobuf_table.py writes them. protobuf_messages.h reads
// them.
//
// A line is a message: "core.v1.Volume 1s=name 2@core.v1.VolumeSource=", sorted by name. A field is a number; then *
// for a list or % for a map by names; then its type: s string, y bytes, b boolean, i int32, l int64, n double, j JSON
// as bytes,
// @ and another message; then = and its name in JSON, which is empty where its members stand in for it. Behind the name
// of a message that is something else in JSON: !t a time, !u a time with microseconds, !x an int or a string, !o the
// one member that is set.
#pragma once

#include <span>
#include <string_view>

namespace fairlead::sandbox::protobuf_table {

extern const std::span<const std::string_view> messages;

}  // namespace fairlead::sandbox::protobuf_table

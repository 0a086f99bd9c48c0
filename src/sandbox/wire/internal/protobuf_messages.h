// The messages that typed clients of Kubernetes send: what the field of each number is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace fairlead::sandbox {

struct ProtobufMessage;

struct ProtobufField {
  uint64_t number = 0;
  enum class Holds { one, list, map } holds = Holds::one;
  // As in protobuf_table.h: s, y, b, i, l, n, j, or @ for a message.
  char type = 's';
  const ProtobufMessage* message = nullptr;
  // In JSON; empty where the members of the message stand in for it.
  std::string_view name;
};

struct ProtobufMessage {
  std::string_view name;
  // What it is in JSON, where that is no object; 0 where it is one.
  char form = 0;
  std::vector<ProtobufField> fields;
};

// "core.v1.Pod"; null if there is none of that name. What it gives stays.
const ProtobufMessage* find_protobuf_message(std::string_view name);

}  // namespace fairlead::sandbox

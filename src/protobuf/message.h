// A message as it is read: its fields by number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protobuf/wire.h"

namespace fairlead::protobuf {

// The bytes must outlive it. A field that is not there, or is of another type, is empty or zero; of one that comes
// several times, the last counts.
class Message {
 public:
  static Result<Message> read(std::string_view bytes);

  std::string_view bytes(uint64_t field) const;
  std::string text(uint64_t field) const { return std::string(bytes(field)); }
  int64_t number(uint64_t field) const;
  bool flag(uint64_t field) const { return number(field) != 0; }
  double real(uint64_t field) const;
  bool has(uint64_t field) const { return last(field) != nullptr; }
  // Every one of them.
  std::vector<std::string_view> all(uint64_t field) const;

 private:
  const WireField* last(uint64_t field) const;

  std::vector<WireField> fields_;
};

}  // namespace fairlead::protobuf

// The wire format of protobuf: numbered values, read one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace fairlead::sandbox {

enum class WireType { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// A field as it stands there: its number, and its value as a number or as bytes.
struct WireField {
  uint64_t number = 0;
  WireType type = WireType::varint;
  uint64_t value = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  // `message` is named in errors.
  WireReader(std::string_view bytes, std::string_view message) : rest_(bytes), message_(message) {}

  bool at_end() const { return rest_.empty(); }
  Result<WireField> next();
  Result<uint64_t> varint();

 private:
  Result<uint64_t> fixed(size_t size);

  std::string_view rest_;
  std::string_view message_;
};

}  // namespace fairlead::sandbox

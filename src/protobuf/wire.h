// The wire format of protobuf: numbered values, read and written one after the other.
//
//   WireReader reader(bytes, "Request");
//   while (!reader.at_end()) {
//     TRY_ASSIGN(WireField field, reader.next());
//     if (field.number == 1) name = field.bytes;    // a field that is not known is passed over
//   }
//   WireWriter response;
//   response.text(1, name);                           // zero values are left out, as protobuf 3 does
//   response.message(2, nested);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace fairlead::protobuf {

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
  // `message` is named in errors, which have the words of Go's decoder. Both must outlive the reader.
  WireReader(std::string_view bytes, std::string_view message) : rest_(bytes), message_(message) {}

  bool at_end() const { return rest_.empty(); }
  Result<WireField> next();
  Result<uint64_t> varint();

 private:
  Result<uint64_t> fixed(size_t size);

  std::string_view rest_;
  std::string_view message_;
};

class WireWriter {
 public:
  void number(uint64_t field, uint64_t value);
  void flag(uint64_t field, bool value) { number(field, value ? 1 : 0); }
  void bytes(uint64_t field, std::string_view value);
  // Bytes that are no UTF-8 are written out as text (base/printable.h): other readers refuse the whole message.
  void text(uint64_t field, std::string_view value);
  // Also one that is empty.
  void message(uint64_t field, const WireWriter& value);

  // Also zero, and no bytes: an element of a list, or a field that says by being there that it is set.
  void set_number(uint64_t field, uint64_t value);
  void set_bytes(uint64_t field, std::string_view value);
  // As text().
  void set_text(uint64_t field, std::string_view value);
  void set_real(uint64_t field, double value);

  const std::string& out() const { return out_; }
  std::string take() { return std::move(out_); }

 private:
  void varint(uint64_t value);

  std::string out_;
};

}  // namespace fairlead::protobuf

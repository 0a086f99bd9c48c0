#include "protobuf/wire.h"

#include <bit>

#include "base/printable.h"

namespace fairlead::protobuf {

Result<uint64_t> WireReader::varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) return fail(ErrorKind::invalid, "unexpected EOF");
    auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return fail(ErrorKind::invalid, "proto: integer overflow");
}

Result<uint64_t> WireReader::fixed(size_t size) {
  if (rest_.size() < size) return fail(ErrorKind::invalid, "unexpected EOF");
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  rest_.remove_prefix(size);
  return value;
}

Result<WireField> WireReader::next() {
  TRY_ASSIGN(uint64_t tag, varint());
  WireField field;
  field.number = (tag >> 3) & 0xffffffff;
  uint64_t type = tag & 7;
  if (field.number == 0 || field.number > 0x7fffffff)
    return fail(ErrorKind::invalid, "proto: {}: illegal tag {} (wire type {})", message_,
                static_cast<int32_t>(static_cast<uint32_t>(field.number)), type);
  if (type == 3) return fail(ErrorKind::limit, "a group in protobuf");
  if (type == 4) return fail(ErrorKind::invalid, "proto: {}: wiretype end group for non-group", message_);
  if (type > 5) return fail(ErrorKind::invalid, "proto: illegal wireType {}", type);
  field.type = WireType(type);
  switch (field.type) {
    case WireType::varint: {
      TRY_ASSIGN(field.value, varint());
      break;
    }
    case WireType::fixed64: {
      TRY_ASSIGN(field.value, fixed(8));
      break;
    }
    case WireType::fixed32: {
      TRY_ASSIGN(field.value, fixed(4));
      break;
    }
    case WireType::bytes: {
      TRY_ASSIGN(uint64_t size, varint());
      if (size > INT64_MAX) return fail(ErrorKind::invalid, "proto: negative length found during unmarshaling");
      if (size > rest_.size()) return fail(ErrorKind::invalid, "unexpected EOF");
      field.bytes = rest_.substr(0, size_t(size));
      rest_.remove_prefix(size_t(size));
      break;
    }
  }
  return field;
}

void WireWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) out_ += static_cast<char>(value | 0x80);
  out_ += static_cast<char>(value);
}

void WireWriter::set_number(uint64_t field, uint64_t value) {
  varint(field << 3 | uint64_t(WireType::varint));
  varint(value);
}

void WireWriter::set_bytes(uint64_t field, std::string_view value) {
  varint(field << 3 | uint64_t(WireType::bytes));
  varint(value.size());
  out_ += value;
}

void WireWriter::number(uint64_t field, uint64_t value) {
  if (value != 0) set_number(field, value);
}

void WireWriter::bytes(uint64_t field, std::string_view value) {
  if (!value.empty()) set_bytes(field, value);
}

void WireWriter::text(uint64_t field, std::string_view value) { bytes(field, printable(value)); }

void WireWriter::set_text(uint64_t field, std::string_view value) { set_bytes(field, printable(value)); }

void WireWriter::set_real(uint64_t field, double value) {
  varint(field << 3 | uint64_t(WireType::fixed64));
  auto bits = std::bit_cast<uint64_t>(value);
  for (int shift = 0; shift < 64; shift += 8) out_ += static_cast<char>(bits >> shift);
}

void WireWriter::message(uint64_t field, const WireWriter& value) { set_bytes(field, value.out_); }

}  // namespace fairlead::protobuf

#include "pulumi/value/struct.h"

#include <bit>
#include <cmath>
#include <map>

#include "protobuf/message.h"

namespace fairlead::pulumi {
namespace {

using protobuf::Message;
using protobuf::WireReader;
using protobuf::WireWriter;

constexpr int kDeepest = 100;
// Up to this, every integer is a double.
constexpr double kLargestInteger = 9007199254740992.0;
// The fields of google.protobuf.Value.
constexpr uint64_t kNull = 1, kNumber = 2, kString = 3, kBool = 4, kStruct = 5, kList = 6;

Result<Json> read_fields(std::string_view bytes, int depth);

Json number_of(double value) {
  bool is_integer = std::floor(value) == value && std::abs(value) <= kLargestInteger;
  return is_integer ? Json(static_cast<int64_t>(value)) : Json(value);
}

Result<Json> read_value(std::string_view bytes, int depth) {
  if (depth > kDeepest) return fail(ErrorKind::limit, "a value is nested more than {} levels deep", kDeepest);
  Json value;
  WireReader reader(bytes, "google.protobuf.Value");
  while (!reader.at_end()) {
    TRY_ASSIGN(protobuf::WireField field, reader.next());
    if (field.number == kNumber) {
      auto number = std::bit_cast<double>(field.value);
      if (!std::isfinite(number)) return fail(ErrorKind::invalid, "a number is infinite or none");
      value = number_of(number);
    } else if (field.number == kString) {
      value = field.bytes;
    } else if (field.number == kBool) {
      value = field.value != 0;
    } else if (field.number == kStruct) {
      TRY_ASSIGN(value, read_fields(field.bytes, depth + 1));
    } else if (field.number == kList) {
      TRY_ASSIGN(Message list, Message::read(field.bytes));
      Json::Array items;
      for (std::string_view item : list.all(1)) {
        TRY_ASSIGN(Json one, read_value(item, depth + 1));
        items.push_back(std::move(one));
      }
      value = std::move(items);
    }
  }
  return value;
}

Result<Json> read_fields(std::string_view bytes, int depth) {
  TRY_ASSIGN(Message message, Message::read(bytes));
  // Of a name that comes twice, the last counts.
  std::map<std::string, Json> members;
  for (std::string_view entry : message.all(1)) {
    TRY_ASSIGN(Message pair, Message::read(entry));
    TRY_ASSIGN(Json value, read_value(pair.bytes(2), depth + 1));
    members.insert_or_assign(pair.text(1), std::move(value));
  }
  Json::Object object;
  for (auto& [name, value] : members) object.append(name, std::move(value));
  return Json(std::move(object));
}

WireWriter value_message(const Json& value) {
  WireWriter out;
  if (value.is_object()) {
    out.message(kStruct, struct_message(value));
  } else if (value.is_array()) {
    WireWriter list;
    for (const Json& item : value.items()) list.message(1, value_message(item));
    out.message(kList, list);
  } else if (const std::string* text = value.if_string()) {
    out.set_bytes(kString, *text);
  } else if (const bool* flag = value.if_bool()) {
    out.set_number(kBool, *flag ? 1 : 0);
  } else if (const int64_t* number = value.if_int64()) {
    out.set_real(kNumber, static_cast<double>(*number));
  } else if (const uint64_t* large = value.if_uint64()) {
    out.set_real(kNumber, static_cast<double>(*large));
  } else if (const double* real = value.if_double()) {
    out.set_real(kNumber, *real);
  } else {
    out.set_number(kNull, 0);
  }
  return out;
}

}  // namespace

Result<Json> read_struct(std::string_view bytes) { return read_fields(bytes, 0); }

WireWriter struct_message(const Json& object) {
  WireWriter out;
  for (const auto& [name, value] : object.members()) {
    WireWriter entry;
    entry.bytes(1, name);
    entry.message(2, value_message(value));
    out.message(1, entry);
  }
  return out;
}

}  // namespace fairlead::pulumi

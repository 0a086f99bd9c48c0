#include "base/json.h"

#include <array>
#include <charconv>
#include <cmath>

namespace fairlead {
namespace {

const Json kNull;
const Json::Array kNoItems;
const Json::Object kNoMembers;

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  std::string_view text(digits.data(), size_t(end - digits.data()));
  out += text;
  // Keep a double a double when it is read again.
  if constexpr (std::is_floating_point_v<Number>) {
    if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
  }
}

void append_double(std::string& out, double value) {
  // JSON has no words for these; nothing that we read can produce them.
  if (std::isfinite(value)) append_number(out, value);
  else out += "null";
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') [[likely]]
      continue;
    out.append(text, start, i - start);
    start = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default:
        out += "\\u00";
        out += kHex[c >> 4];
        out += kHex[c & 15];
    }
  }
  out.append(text, start);
  out += '"';
}

Json::Object::Object() = default;
Json::Object::Object(std::initializer_list<Member> members) : members_(members) {}
Json::Object::Object(const Object&) = default;
Json::Object::Object(Object&&) noexcept = default;
Json::Object& Json::Object::operator=(const Object&) = default;
Json::Object& Json::Object::operator=(Object&&) noexcept = default;
Json::Object::~Object() = default;

Json* Json::Object::find(std::string_view key) {
  for (Member& member : members_)
    if (member.key == key) return &member.value;
  return nullptr;
}

const Json* Json::Object::find(std::string_view key) const { return const_cast<Object*>(this)->find(key); }

Json& Json::Object::operator[](std::string_view key) {
  if (Json* found = find(key)) return *found;
  return append(std::string(key), Json());
}

Json& Json::Object::append(std::string key, Json value) {
  // Most objects have more than one member.
  if (members_.capacity() == 0) members_.reserve(2);
  return members_.emplace_back(std::move(key), std::move(value)).value;
}

bool Json::Object::erase(std::string_view key) {
  return std::erase_if(members_, [&](const Member& member) { return member.key == key; }) > 0;
}

bool Json::Object::operator==(const Object& other) const { return members_ == other.members_; }

Json::Json() = default;
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;
bool Json::operator==(const Json&) const = default;

Json::Json(uint64_t value) {
  if (value <= uint64_t(INT64_MAX)) value_ = int64_t(value);
  else value_ = value;
}

std::string_view Json::type_name() const {
  static constexpr std::array<std::string_view, 8> kNames = {"null",   "boolean", "integer", "integer",
                                                             "number", "string",  "array",   "object"};
  return kNames[value_.index()];
}

bool Json::bool_or(bool fallback) const {
  const bool* value = if_bool();
  return value ? *value : fallback;
}

int64_t Json::int_or(int64_t fallback) const {
  const int64_t* value = if_int64();
  return value ? *value : fallback;
}

std::string_view Json::string_or(std::string_view fallback) const {
  const std::string* value = if_string();
  return value ? std::string_view(*value) : fallback;
}

const Json::Array& Json::items() const {
  const Array* array = if_array();
  return array ? *array : kNoItems;
}

const Json::Object& Json::members() const {
  const Object* object = if_object();
  return object ? *object : kNoMembers;
}

const Json& Json::operator[](std::string_view key) const {
  const Json* found = members().find(key);
  return found ? *found : kNull;
}

const Json& Json::item(size_t index) const {
  const Array& array = items();
  return index < array.size() ? array[index] : kNull;
}

Json& Json::make(std::string_view key) {
  if (!is_object()) value_ = Object();
  return std::get<Object>(value_)[key];
}

bool Json::contains(std::string_view key) const { return members().contains(key); }

bool Json::same_as(const Json& other) const {
  if (value_.index() != other.value_.index()) return false;
  if (const Array* array = if_array()) {
    const Array& others = *other.if_array();
    if (array->size() != others.size()) return false;
    for (size_t i = 0; i < array->size(); ++i)
      if (!(*array)[i].same_as(others[i])) return false;
    return true;
  }
  if (const Object* object = if_object()) {
    const Object& others = *other.if_object();
    if (object->size() != others.size()) return false;
    // Most often the order is the same, and the scan for the member of that name is not needed.
    auto candidate = others.begin();
    for (const Member& member : *object) {
      const Json* twin = candidate->key == member.key ? &candidate->value : others.find(member.key);
      if (!twin || !member.value.same_as(*twin)) return false;
      ++candidate;
    }
    return true;
  }
  return value_ == other.value_;
}

void Json::append_to(std::string& out) const {
  struct Writer {
    std::string& out;
    void operator()(std::monostate) const { out += "null"; }
    void operator()(bool value) const { out += value ? "true" : "false"; }
    void operator()(int64_t value) const { append_number(out, value); }
    void operator()(uint64_t value) const { append_number(out, value); }
    void operator()(double value) const { append_double(out, value); }
    void operator()(const std::string& value) const { append_json_string(out, value); }
    void operator()(const Array& array) const {
      out += '[';
      for (size_t i = 0; i < array.size(); ++i) {
        if (i) out += ',';
        array[i].append_to(out);
      }
      out += ']';
    }
    void operator()(const Object& object) const {
      char separator = '{';
      for (const Member& member : object) {
        out += separator;
        separator = ',';
        append_json_string(out, member.key);
        out += ':';
        member.value.append_to(out);
      }
      out += object.empty() ? "{}" : "}";
    }
  };
  std::visit(Writer{out}, value_);
}

void Json::append_pretty(std::string& out, int indent) const {
  auto line = [&](int depth) { out.append(1, '\n').append(size_t(depth) * 2, ' '); };
  if (!items().empty()) {
    char separator = '[';
    for (const Json& item : items()) {
      out += separator;
      separator = ',';
      line(indent + 1);
      item.append_pretty(out, indent + 1);
    }
    line(indent);
    out += ']';
  } else if (!members().empty()) {
    char separator = '{';
    for (const Member& member : members()) {
      out += separator;
      separator = ',';
      line(indent + 1);
      append_json_string(out, member.key);
      out += ": ";
      member.value.append_pretty(out, indent + 1);
    }
    line(indent);
    out += '}';
  } else {
    append_to(out);
  }
}

std::string Json::dump() const {
  std::string out;
  append_to(out);
  return out;
}

std::string Json::pretty() const {
  std::string out;
  append_pretty(out, 0);
  out += '\n';
  return out;
}

}  // namespace fairlead

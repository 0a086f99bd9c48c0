#include "cel/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fairlead::cel {
namespace {

template <class T>
int order(T a, T b) {
  return a < b ? -1 : (a > b ? 1 : 0);
}

int order_int_uint(int64_t a, uint64_t b) { return a < 0 ? -1 : order(static_cast<uint64_t>(a), b); }

// What the numbers on either side of a double are is decided by range first, and then as doubles: as the API server
// does.
int order_int_double(int64_t a, double b) {
  if (b < -9223372036854775808.0) return 1;
  if (b > 9223372036854775808.0) return -1;
  return order(static_cast<double>(a), b);
}

int order_uint_double(uint64_t a, double b) {
  if (b < 0) return 1;
  if (b > 18446744073709551615.0) return -1;
  return order(static_cast<double>(a), b);
}

std::optional<int> compare_numbers(const Value& a, const Value& b) {
  if (const double* x = a.if_double(); x != nullptr && std::isnan(*x)) return std::nullopt;
  if (const double* y = b.if_double(); y != nullptr && std::isnan(*y)) return std::nullopt;
  if (const int64_t* x = a.if_int()) {
    if (const int64_t* y = b.if_int()) return order(*x, *y);
    if (const uint64_t* y = b.if_uint()) return order_int_uint(*x, *y);
    return order_int_double(*x, *b.if_double());
  }
  if (const uint64_t* x = a.if_uint()) {
    if (const int64_t* y = b.if_int()) return -order_int_uint(*y, *x);
    if (const uint64_t* y = b.if_uint()) return order(*x, *y);
    return order_uint_double(*x, *b.if_double());
  }
  double x = *a.if_double();
  if (const int64_t* y = b.if_int()) return -order_int_double(*y, x);
  if (const uint64_t* y = b.if_uint()) return -order_uint_double(*y, x);
  return order(x, *b.if_double());
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value::Value(std::string value) {
  auto owner = std::make_shared<const std::string>(std::move(value));
  std::string_view view = *owner;
  rep_ = Text{.owner = std::move(owner), .view = view};
}

Value::Value(Bytes value) : rep_(std::make_shared<const Bytes>(std::move(value))) {}
Value::Value(List list) : rep_(std::make_shared<const List>(std::move(list))) {}
Value::Value(Map map) : rep_(std::make_shared<const Map>(std::move(map))) {}
Value::Value(Message message) : rep_(std::make_shared<const Message>(std::move(message))) {}

Value Value::view(std::string_view text) {
  Value value;
  value.rep_ = Text{.owner = nullptr, .view = text};
  return value;
}

Value Value::of(const Json& json) {
  if (const bool* value = json.if_bool()) return Value(*value);
  if (const int64_t* value = json.if_int64()) return Value(*value);
  // Objects have no unsigned numbers: what does not fit an int is a double.
  if (const uint64_t* value = json.if_uint64()) return Value(static_cast<double>(*value));
  if (const double* value = json.if_double()) return Value(*value);
  if (const std::string* value = json.if_string()) return view(*value);
  Value value;
  if (json.is_array() || json.is_object()) value.rep_ = &json;
  return value;
}

std::optional<std::string_view> Value::if_string() const {
  const Text* text = std::get_if<Text>(&rep_);
  return text != nullptr ? std::optional(text->view) : std::nullopt;
}

const std::string* Value::if_bytes() const {
  const auto* bytes = std::get_if<std::shared_ptr<const Bytes>>(&rep_);
  return bytes != nullptr ? &(*bytes)->data : nullptr;
}

const Record* Value::if_record() const {
  const auto* record = std::get_if<const Record*>(&rep_);
  return record != nullptr ? *record : nullptr;
}

const Value::Message* Value::if_message() const {
  const auto* message = std::get_if<std::shared_ptr<const Message>>(&rep_);
  return message != nullptr ? message->get() : nullptr;
}

bool Value::is_list() const {
  if (const auto* json = std::get_if<const Json*>(&rep_)) return (*json)->is_array();
  return std::holds_alternative<std::shared_ptr<const List>>(rep_);
}

bool Value::is_map() const {
  if (const auto* json = std::get_if<const Json*>(&rep_)) return (*json)->is_object();
  return std::holds_alternative<std::shared_ptr<const Map>>(rep_);
}

size_t Value::size() const {
  if (const auto* json = std::get_if<const Json*>(&rep_))
    return (*json)->is_array() ? (*json)->items().size() : (*json)->members().size();
  if (const auto* list = std::get_if<std::shared_ptr<const List>>(&rep_)) return (*list)->size();
  if (const auto* map = std::get_if<std::shared_ptr<const Map>>(&rep_)) return (*map)->size();
  return 0;
}

Value Value::item(size_t index) const {
  if (const auto* json = std::get_if<const Json*>(&rep_)) return of((*json)->item(index));
  if (const auto* list = std::get_if<std::shared_ptr<const List>>(&rep_); list != nullptr && index < (*list)->size())
    return (**list)[index];
  return {};
}

Value Value::key(size_t index) const {
  if (index >= size()) return {};
  if (const auto* json = std::get_if<const Json*>(&rep_)) return view((*json)->members().begin()[index].key);
  if (const auto* map = std::get_if<std::shared_ptr<const Map>>(&rep_)) return (**map)[index].first;
  return {};
}

std::optional<Value> Value::find(const Value& key) const {
  if (const auto* json = std::get_if<const Json*>(&rep_)) {
    std::optional<std::string_view> name = key.if_string();
    const Json* found = name ? (*json)->members().find(*name) : nullptr;
    return found != nullptr ? std::optional(of(*found)) : std::nullopt;
  }
  if (const auto* map = std::get_if<std::shared_ptr<const Map>>(&rep_))
    for (const auto& [name, value] : **map)
      if (name.equals(key)) return value;
  return std::nullopt;
}

std::string_view Value::type_name() const {
  if (is_null()) return "null_type";
  if (if_bool() != nullptr) return "bool";
  if (if_int() != nullptr) return "int";
  if (if_uint() != nullptr) return "uint";
  if (if_double() != nullptr) return "double";
  if (if_string()) return "string";
  if (if_bytes() != nullptr) return "bytes";
  if (if_type() != nullptr) return "type";
  if (const Message* message = if_message()) return message->type;
  return is_list() ? "list" : "map";
}

bool Value::equals(const Value& other) const {
  if (is_number() && other.is_number()) return compare_numbers(*this, other) == 0;
  if (is_null() || other.is_null()) return is_null() && other.is_null();
  if (const bool* value = if_bool()) return other.if_bool() != nullptr && *value == *other.if_bool();
  if (auto text = if_string()) return text == other.if_string();
  if (const std::string* bytes = if_bytes()) return other.if_bytes() != nullptr && *bytes == *other.if_bytes();
  if (const Type* type = if_type()) return other.if_type() != nullptr && type->name == other.if_type()->name;
  if (if_record() != nullptr || other.if_record() != nullptr) return if_record() == other.if_record();
  if (const Message *a = if_message(), *b = other.if_message(); a != nullptr || b != nullptr) {
    if (a == nullptr || b == nullptr || a->type != b->type || a->fields.size() != b->fields.size()) return false;
    return std::ranges::all_of(a->fields, [&](const auto& mine) {
      return std::ranges::any_of(b->fields, [&](const auto& theirs) {
        return mine.first == theirs.first && mine.second.equals(theirs.second);
      });
    });
  }
  if (is_list() != other.is_list() || is_map() != other.is_map() || size() != other.size()) return false;
  if (is_list()) {
    for (size_t i = 0; i < size(); ++i)
      if (!item(i).equals(other.item(i))) return false;
    return true;
  }
  if (!is_map()) return false;
  for (size_t i = 0; i < size(); ++i) {
    Value name = key(i);
    std::optional<Value> mine = find(name);
    std::optional<Value> theirs = other.find(name);
    if (!mine || !theirs || !mine->equals(*theirs)) return false;
  }
  return true;
}

std::optional<int> Value::compare(const Value& other) const {
  if (is_number() && other.is_number()) return compare_numbers(*this, other);
  if (const bool *a = if_bool(), *b = other.if_bool(); a != nullptr && b != nullptr) return order(*a, *b);
  if (auto a = if_string(), b = other.if_string(); a && b) return order(a->compare(*b), 0);
  if (const std::string *a = if_bytes(), *b = other.if_bytes(); a != nullptr && b != nullptr)
    return order(a->compare(*b), 0);
  return std::nullopt;
}

std::string Value::text() const {
  if (is_null()) return "null";
  if (const bool* value = if_bool()) return *value ? "true" : "false";
  if (const int64_t* value = if_int()) return fmt::format("{}", *value);
  if (const uint64_t* value = if_uint()) return fmt::format("{}u", *value);
  if (const double* value = if_double()) return fmt::format("double({})", text_of(*value));
  if (auto value = if_string()) {
    std::string out;
    append_json_string(out, *value);
    return out;
  }
  if (const std::string* value = if_bytes()) {
    std::string out = "b";
    for (char c : *value) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
  }
  if (const Type* value = if_type()) return fmt::format("type({})", value->name);
  std::vector<std::string> parts;
  if (const Message* message = if_message()) {
    for (const auto& [name, value] : message->fields) parts.push_back(name + ": " + value.text());
    return fmt::format("{}{{{}}}", message->type, fmt::join(parts, ", "));
  }
  for (size_t i = 0; i < size(); ++i) {
    if (is_list()) {
      parts.push_back(item(i).text());
    } else {
      Value name = key(i);
      parts.push_back(name.text() + ": " + find(name).value_or(Value()).text());
    }
  }
  if (is_map()) std::sort(parts.begin(), parts.end());
  return fmt::format("{}{}{}", is_list() ? '[' : '{', fmt::join(parts, ", "), is_list() ? ']' : '}');
}

std::string text_of(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string_view shortest(buffer, end);
  size_t e = shortest.find('e');
  int exponent = 0;
  std::string_view digits = shortest.substr(e + (shortest[e + 1] == '+' ? 2 : 1));
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (exponent < -4 || exponent >= 6) return std::string(shortest);
  auto fixed = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed);
  return std::string(buffer, fixed.ptr);
}

}  // namespace fairlead::cel

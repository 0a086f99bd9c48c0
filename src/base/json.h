// A JSON value: what every Kubernetes object is made of.
//
// Integers keep their kind: int64 where it fits, uint64 above that, double for anything written with a fraction or an
// exponent. Members keep their order. Writing is deterministic: the same value always gives the same bytes, and reading
// those gives the same value back. Reading has limits, since all input is hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace fairlead {

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;

  // Members in the order in which they came, found by a scan: Kubernetes objects have few members each.
  class Object {
   public:
    Object();
    Object(std::initializer_list<Member> members);
    Object(const Object&);
    Object(Object&&) noexcept;
    Object& operator=(const Object&);
    Object& operator=(Object&&) noexcept;
    ~Object();

    Json* find(std::string_view key);
    const Json* find(std::string_view key) const;
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    // The member of that name, added as null at the end if it is not there.
    Json& operator[](std::string_view key);
    // Adds without looking: the caller knows that the key is new.
    Json& append(std::string key, Json value);
    bool erase(std::string_view key);

    size_t size() const;
    bool empty() const { return size() == 0; }
    Member* begin();
    Member* end();
    const Member* begin() const;
    const Member* end() const;

    // Order counts: this is the equality of the written form. See Json::same_as for the other one.
    bool operator==(const Object&) const;

   private:
    std::vector<Member> members_;
  };

  // Copying, moving and destroying a variant is a lot of code: it is compiled once, in json.cc.
  Json();
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(int64_t{value}) {}
  Json(int64_t value) : value_(value) {}
  // Kept as int64 where it fits, so that a number has one form only.
  Json(uint64_t value);
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_int64() const { return std::holds_alternative<int64_t>(value_); }
  bool is_uint64() const { return std::holds_alternative<uint64_t>(value_); }
  bool is_integer() const { return is_int64() || is_uint64(); }
  bool is_double() const { return std::holds_alternative<double>(value_); }
  bool is_number() const { return is_integer() || is_double(); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  std::string_view type_name() const;

  // For values of known type; null if it is of another type.
  const bool* if_bool() const { return std::get_if<bool>(&value_); }
  const int64_t* if_int64() const { return std::get_if<int64_t>(&value_); }
  const uint64_t* if_uint64() const { return std::get_if<uint64_t>(&value_); }
  const double* if_double() const { return std::get_if<double>(&value_); }
  const std::string* if_string() const { return std::get_if<std::string>(&value_); }
  std::string* if_string() { return std::get_if<std::string>(&value_); }
  const Array* if_array() const { return std::get_if<Array>(&value_); }
  Array* if_array() { return std::get_if<Array>(&value_); }
  const Object* if_object() const { return std::get_if<Object>(&value_); }
  Object* if_object() { return std::get_if<Object>(&value_); }

  // For hostile values: what is there if it has the right type, else the fallback (or nothing to iterate over).
  bool bool_or(bool fallback) const;
  int64_t int_or(int64_t fallback) const;
  std::string_view string_or(std::string_view fallback) const;
  const Array& items() const;
  const Object& members() const;

  // Walks down without failing: null where there is nothing. `object["metadata"]["name"].string_or("")`
  const Json& operator[](std::string_view key) const;
  const Json& item(size_t index) const;
  // The way down for writing: makes the member, and makes this an object if it was none.
  // `object.make("metadata").make("name") = "x";`
  Json& make(std::string_view key);

  bool contains(std::string_view key) const;

  bool operator==(const Json&) const;
  // Equal but for the order of members.
  bool same_as(const Json& other) const;

  struct Limits {
    size_t bytes = size_t{64} << 20;
    size_t depth = 200;
    // Objects and arrays included. A value takes some 20 times the memory of the shortest text that makes one.
    size_t values = 8'000'000;
  };
  // One value and nothing behind it. Errors carry line and column. A key that comes twice is an error.
  static Result<Json> parse(std::string_view text, Limits limits);
  static Result<Json> parse(std::string_view text) { return parse(text, Limits{}); }

  // As Go reads it, where a key may come twice: the last value counts, or, where both are objects and are to be merged
  // (as into a struct or a map that is there already), all their members do.
  enum class Repeats { last, merged };
  struct Lenient;
  static Result<Lenient> parse_lenient(std::string_view text, Repeats repeats, Limits limits);
  static Result<Lenient> parse_lenient(std::string_view text, Repeats repeats);

  // What is wrong with a text, and at which byte of it.
  struct Flaw {
    std::string what;
    size_t offset = 0;
    // The text may be well formed, and is too much of it.
    bool is_limit = false;
  };
  struct First;
  // The first of several values that follow each other; for callers who have positions of their own to tell.
  static std::expected<First, Flaw> parse_first(std::string_view text, Limits limits);

  // Compact, or indented by two spaces with a newline at the end.
  std::string dump() const;
  std::string pretty() const;
  void append_to(std::string& out) const;

 private:
  void append_pretty(std::string& out, int indent) const;

  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
  bool operator==(const Member&) const = default;
};

struct Json::Lenient {
  Json value;
  std::vector<std::string> repeated;  // "data", "spec.list[0].x": the first hundred of them
};

struct Json::First {
  Json value;
  size_t size = 0;    // bytes of the text up to its end, space before it included
  size_t values = 0;  // how many there are in it, itself included
};

// Here, where Member is complete.
inline size_t Json::Object::size() const { return members_.size(); }
inline Json::Member* Json::Object::begin() { return members_.data(); }
inline Json::Member* Json::Object::end() { return members_.data() + members_.size(); }
inline const Json::Member* Json::Object::begin() const { return members_.data(); }
inline const Json::Member* Json::Object::end() const { return members_.data() + members_.size(); }

// A string as a JSON string, quotes included.
void append_json_string(std::string& out, std::string_view text);

}  // namespace fairlead

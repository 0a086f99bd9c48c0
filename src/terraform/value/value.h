// A Terraform value: null, unknown ("known after apply"), or known.
//
//   const std::string* host = config["cluster"]["host"].if_string();
//   if (config["cluster"].is_unknown()) ...
//   Value state = Value::object({{"id", "x"}, {"revision", Value::unknown()}});
//
// Reading walks down without failing: whatever is not there is null, and everything inside an unknown value is unknown.
// A value has no type of its own, with one exception: a value at an attribute of type `dynamic` keeps the type that
// came with it (dynamic_type). The schema says the rest.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "terraform/value/number.h"
#include "terraform/value/type.h"

namespace fairlead::terraform {

class Value {
 public:
  using Items = std::vector<Value>;
  using Members = std::map<std::string, Value, std::less<>>;

  // Null.
  Value() = default;
  Value(std::nullptr_t) {}
  Value(bool value) : value_(value) {}
  Value(int value) : value_(Number(value)) {}
  Value(int64_t value) : value_(Number(value)) {}
  Value(Number value) : value_(std::move(value)) {}
  Value(const char* value) : value_(std::string(value)) {}
  Value(std::string_view value) : value_(std::string(value)) {}
  Value(std::string value) : value_(std::move(value)) {}

  static Value unknown();
  // Also tuples.
  static Value list(Items items);
  static Value set(Items items);
  // Also maps.
  static Value object(Members members);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_unknown() const { return std::holds_alternative<Unknown>(value_); }
  // Neither null nor unknown; things inside it can still be either.
  bool is_known() const { return !is_null() && !is_unknown(); }
  // Nothing inside it is unknown.
  bool is_wholly_known() const;

  // Null for a value of another kind.
  const bool* if_bool() const { return std::get_if<bool>(&value_); }
  const Number* if_number() const { return std::get_if<Number>(&value_); }
  const std::string* if_string() const { return std::get_if<std::string>(&value_); }
  bool is_list() const { return std::holds_alternative<List>(value_); }
  bool is_set() const { return std::holds_alternative<Set>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }

  // The value if it is known and of that kind, else the fallback, or nothing to iterate over.
  bool bool_or(bool fallback) const;
  int64_t int_or(int64_t fallback) const;
  std::string_view string_or(std::string_view fallback) const;
  // Of a list, tuple or set.
  const Items& items() const;
  // Of an object or map, by name.
  const Members& members() const;

  // Null where there is nothing, unknown inside of unknown.
  const Value& operator[](std::string_view name) const;
  const Value& item(size_t index) const;
  bool contains(std::string_view name) const { return members().contains(name); }
  // For writing: the member, null if it is new. A value that is no object becomes one. `state.make("id") = "x";`
  Value& make(std::string_view name);
  // For writing into the items of a list or set; null for any other value.
  Items* if_items();
  Members* if_members() { return std::get_if<Members>(&value_); }

  // The type that came with a value of an attribute of type `dynamic`.
  const std::optional<Type>& dynamic_type() const { return dynamic_type_; }
  Value with_type(Type type) &&;

  // The type that a value has by itself: lists are tuples, members make an object; unknown and null are dynamic.
  Type natural_type() const;

  // Any JSON: arrays become tuples. The result suits attributes of type `dynamic`.
  static Value from_json(const Json& json);
  // JSON as Terraform writes it into state: a value of `dynamic` is {"type":…,"value":…} there. Attributes that `type`
  // has and the JSON has not become null; it fails for members that `type` does not have.
  static Result<Value> from_state_json(const Json& json, const Type& type);
  // Fails if anything inside is unknown. Numbers that fit no integer become doubles.
  Result<Json> to_json() const;

  // Sets are equal in any order. The dynamic type counts where both have one.
  bool operator==(const Value& other) const;

 private:
  struct Unknown {
    bool operator==(const Unknown&) const = default;
  };
  struct List {
    Items items;
  };
  struct Set {
    Items items;
  };

  std::variant<std::monostate, Unknown, bool, Number, std::string, List, Set, Members> value_;
  std::optional<Type> dynamic_type_;
};

}  // namespace fairlead::terraform

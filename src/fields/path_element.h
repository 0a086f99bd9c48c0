// One step from a value to a part of it, as in managedFields: a member of an object by its name (`f:`), or an item of a
// list by its keys (`k:`), by its own value (`v:`) or by its position (`i:`).
//
// Elements have a total order, in which the API server writes them. All texts may be hostile, so parsing has limits.
#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::fields {

// Orders values by type: numbers (compared by size, whether integer or not), strings, booleans, lists, objects, null.
std::strong_ordering compare_values(const Json& left, const Json& right);
// True if the API server treats the values as equal: 1 equals 1.0, and the order of members does not matter.
inline bool equal_values(const Json& left, const Json& right) { return compare_values(left, right) == 0; }

class PathElement {
 public:
  struct KeyField {
    std::string name;
    Json value;
  };
  // Sorted by name.
  using Key = std::vector<KeyField>;

  static PathElement field(std::string_view name) { return PathElement(std::string(name)); }
  static PathElement key(Key key);
  static PathElement value(Json value) { return PathElement(std::move(value)); }
  static PathElement index(int64_t index) { return PathElement(index); }

  // Parses the written form, such as `f:name`. Fails with ErrorKind::not_found for a form of a later version; callers
  // skip it.
  static Result<PathElement> parse(std::string_view text);
  std::string dump() const;

  const std::string* if_field() const { return std::get_if<std::string>(&value_); }
  const Key* if_key() const { return std::get_if<Key>(&value_); }
  const Json* if_value() const { return std::get_if<Json>(&value_); }
  const int64_t* if_index() const { return std::get_if<int64_t>(&value_); }

  // Returns the text that conflicts show: `.name`, `[name="x",port=80]`, `[="x"]`, `[3]`.
  std::string text() const;

  std::strong_ordering operator<=>(const PathElement& other) const;
  bool operator==(const PathElement& other) const { return (*this <=> other) == 0; }

 private:
  // The alternatives are in the order in which elements are sorted.
  using Value = std::variant<std::string, Key, Json, int64_t>;
  explicit PathElement(Value value) : value_(std::move(value)) {}
  explicit PathElement(std::string name) : value_(std::move(name)) {}
  explicit PathElement(Json value) : value_(std::move(value)) {}
  explicit PathElement(int64_t index) : value_(index) {}

  Value value_;
};

using Path = std::vector<PathElement>;
std::string text_of(const Path& path);

}  // namespace fairlead::fields

// A value of the Common Expression Language: what an expression is evaluated over, and what comes out.
//
// Values are cheap to copy. Those that come out of Json only point into it, and string constants point into the
// program: a value lives no longer than either. Numbers keep CEL's three kinds (int, uint, double) apart and compare
// across them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::cel {

class Value;

// An object whose fields are made when they are asked for, as the `variables` of a policy are. A field that ends in an
// error of kind limit is one that is not known: whether it is there at all is not known then either.
class Record {
 public:
  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  virtual ~Record() = default;
  // Nothing if there is no such field.
  virtual std::optional<Result<Value>> field(std::string_view name) const = 0;
};

class Value {
 public:
  using List = std::vector<Value>;
  using Map = std::vector<std::pair<Value, Value>>;
  struct Bytes {
    std::string data;
  };
  struct Type {
    std::string_view name;
  };
  // What `Object.spec{replicas: 2}` makes: the type "Object.spec" and the fields, in the order of the expression.
  struct Message {
    std::string type;
    std::vector<std::pair<std::string, Value>> fields;
  };

  // Copying, moving and destroying a variant is a lot of code: it is compiled once, in value.cc.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  explicit Value(bool value) : rep_(value) {}
  explicit Value(int64_t value) : rep_(value) {}
  explicit Value(uint64_t value) : rep_(value) {}
  explicit Value(double value) : rep_(value) {}
  explicit Value(std::string value);
  explicit Value(Bytes value);
  explicit Value(Type type) : rep_(type) {}
  explicit Value(List list);
  explicit Value(Map map);
  explicit Value(Message message);
  explicit Value(const Record& record) : rep_(&record) {}
  // A view: the Json has to stay.
  static Value of(const Json& json);
  static Value view(std::string_view text);

  bool is_null() const { return std::holds_alternative<std::monostate>(rep_); }
  const bool* if_bool() const { return std::get_if<bool>(&rep_); }
  const int64_t* if_int() const { return std::get_if<int64_t>(&rep_); }
  const uint64_t* if_uint() const { return std::get_if<uint64_t>(&rep_); }
  const double* if_double() const { return std::get_if<double>(&rep_); }
  std::optional<std::string_view> if_string() const;
  const std::string* if_bytes() const;
  const Type* if_type() const { return std::get_if<Type>(&rep_); }
  const Record* if_record() const;
  const Message* if_message() const;
  bool is_number() const { return if_int() != nullptr || if_uint() != nullptr || if_double() != nullptr; }
  bool is_list() const;
  bool is_map() const;

  // The number of items or entries; 0 for anything but a list or a map.
  size_t size() const;
  // Of a list.
  Value item(size_t index) const;
  // The key of the n-th entry of a map.
  Value key(size_t index) const;
  // The entry of a map under that key; numbers are equal across kinds.
  std::optional<Value> find(const Value& key) const;

  // "int", "map", "null_type": as type() calls it.
  std::string_view type_name() const;

  // Equality never fails: values of different types are not equal, but numbers compare by what they are.
  bool equals(const Value& other) const;
  // Below zero, zero, above; nothing where there is no order between the two, or one is not a number.
  std::optional<int> compare(const Value& other) const;

  // As an expression would write it, for messages and tests; map entries in order of their text.
  std::string text() const;

 private:
  // Keeps the text alive where it was made; points into Json or the program otherwise.
  struct Text {
    std::shared_ptr<const std::string> owner;
    std::string_view view;
  };

  std::variant<std::monostate, bool, int64_t, uint64_t, double, Text, std::shared_ptr<const Bytes>, Type,
               std::shared_ptr<const List>, std::shared_ptr<const Map>, const Json*, const Record*,
               std::shared_ptr<const Message>>
      rep_;
};

// A number as Go's %g writes it, which is what string() gives.
std::string text_of(double value);

}  // namespace fairlead::cel

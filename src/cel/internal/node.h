// An expression as a tree: what the parser makes and the evaluator walks. Macros are nodes of their own.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cel/value.h"

namespace re2 {
class RE2;
}

namespace fairlead::cel {

// Takes off the budget; false once it is used up.
class Cost {
 public:
  explicit Cost(size_t& budget) : budget_(budget) {}
  bool spend(size_t amount) {
    if (amount > budget_) {
      budget_ = 0;
      return false;
    }
    budget_ -= amount;
    return true;
  }

 private:
  size_t& budget_;
};

using Function = Result<Value> (*)(std::span<const Value> arguments, Cost& cost);

struct Node {
  enum class Kind {
    constant,
    name,     // a variable, or the variable of a macro around it
    select,   // parts[0].text
    has,      // has(parts[0].text)
    index,    // parts[0][parts[1]]
    call,     // function(parts...)
    matches,  // parts[0].matches(parts[1])
    list,
    map,          // key, value, key, value
    message,      // the type in `text`, the values of `fields` in parts
    conditional,  // parts[0] ? parts[1] : parts[2]
    all_true,     // &&
    any_true,     // ||
    // Macros: over parts[0], the variable in `text`, the condition or result in parts[1].
    all,
    exists,
    exists_one,
    filter,
    transform,       // map(x, parts[1])
    transform_some,  // map(x, parts[1], parts[2])
  };
  Kind kind = Kind::constant;
  std::string text;
  // Of a message.
  std::vector<std::string> fields;
  Value constant;
  Function function = nullptr;
  // Of `matches`, where it is a constant.
  std::shared_ptr<const re2::RE2> pattern;
  std::vector<std::unique_ptr<Node>> parts;
  // Of the tree below: the evaluator recurses that deep.
  size_t depth = 1;
};

// Whether an operator takes a record as it is.
bool takes_records(Function function);

// Null if there is no such function of that many arguments, the one before the dot included.
Function find_function(std::string_view name, bool with_receiver, size_t arguments);
Function find_operator(std::string_view sign, size_t arguments);

// Value::equals, paid for.
Result<bool> are_equal(const Value& a, const Value& b, Cost& cost);

// The error is as Go words it.
Result<std::shared_ptr<const re2::RE2>> compile_pattern(std::string_view pattern);

inline std::unexpected<Error> fail_cost() {
  return fail(ErrorKind::limit, "the expression costs more than is spent on it here");
}
// Only the fields of a record are known, not the whole of it.
inline std::unexpected<Error> fail_record() {
  return fail(ErrorKind::limit, "an object that is known in part only is not evaluated as a whole");
}
// Messages are only built: what an expression reads of one is not evaluated.
inline std::unexpected<Error> fail_message() {
  return fail(ErrorKind::limit, "an object that an expression has made is not read here");
}
// What it costs to walk over so many characters.
inline size_t walk_cost(size_t size) { return size / 10; }

inline std::unexpected<Error> overflow() { return fail(ErrorKind::invalid, "integer overflow"); }
inline std::unexpected<Error> unsigned_overflow() { return fail(ErrorKind::invalid, "unsigned integer overflow"); }
inline std::unexpected<Error> no_such_overload() { return fail(ErrorKind::invalid, "no such overload"); }

}  // namespace fairlead::cel

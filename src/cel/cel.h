// The Common Expression Language as admission configurations use it: the part of it that is evaluated here.
//
// In: literals, lists, maps, selection, index, has(), all operators with CEL's rules (errors absorbed by && and ||,
// numbers compared across kinds), ?:, the macros all, exists, exists_one, map and filter, size, type, dyn, the
// conversions string, int, uint, double, bool and bytes, and of the string functions startsWith, endsWith, contains,
// matches, lowerAscii, upperAscii, trim, split, join, replace and substring. In mutations also the messages `Object{}`
// and `JSONPatch{}`, which can be made and not read, and jsonpatch.escapeKey.
// Out: optional values, macros of two variables, time, quantities, URLs, IPs, format, authorizer, and most of
// the type check: only the type of the whole is told where its form gives it away, the rest fails when it is evaluated.
//
// Errors are of two kinds. ErrorKind::limit: this cannot be told here (outside of the above, too large, too costly);
// whoever asks has to count the expression as anything it may be. ErrorKind::invalid: the expression is wrong, or ended
// in an error; what() is then what the API server says ("no such key: x").
//
// Pure. All input is hostile: size, depth and cost are bounded.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cel/value.h"

namespace fairlead::cel {

struct Node;

// Name and value of what an expression may speak of. What it names and is not bound here is null.
using Bindings = std::vector<std::pair<std::string_view, Value>>;

// What one evaluation may cost: about one a step, and one for every ten characters or items that it walks over.
inline constexpr size_t kCostLimit = 1'000'000;

// Mutations may make patches: messages of the types Object, Object.FIELD… and JSONPatch.
enum class Purpose { decision, mutation };

class Program {
 public:
  const std::string& text() const { return text_; }
  // "bool", "string": what comes out if anything does, where the form of the expression tells; empty otherwise.
  std::string_view result_type() const;
  // Values that come out point into the bindings and into this program. The cost is taken off the budget; one that is
  // used up is an error of kind limit.
  Result<Value> evaluate(const Bindings& bindings, size_t& budget) const;
  Result<Value> evaluate(const Bindings& bindings) const;

 private:
  friend Result<Program> compile(std::string_view, const std::vector<std::string_view>&, Purpose);
  std::string text_;
  std::shared_ptr<const Node> root_;
};

// Variables are the names that it may use.
Result<Program> compile(std::string_view text, const std::vector<std::string_view>& variables,
                        Purpose purpose = Purpose::decision);

}  // namespace fairlead::cel

// The part of kubectl's JSONPath that selects values of an object: {.status.phase}, {.spec.ports[0].port},
// {.status.conditions[?(@.type=="Ready")].status}, {.metadata.annotations.example\.com/x}, [*], [-1], ['a.b']. Slices,
// unions, recursion and text around the braces are not supported; the error says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::readiness {

class JsonPath {
 public:
  // Parses a path without its braces. As in kubectl, the dot at the start is optional.
  static Result<JsonPath> parse(std::string_view text);

  // Returns all values that the path leads to, in order. Returns nothing if it leads nowhere. There are never more
  // results than values in `root`.
  std::vector<const Json*> find(const Json& root) const;

 private:
  friend class JsonPathParser;
  struct Key {
    std::string name;
  };
  struct Index {
    int64_t at = 0;  // counted from the end if negative
  };
  struct All {};
  enum class Comparison { exists, equal, unequal, less, at_most, greater, at_least };
  struct Filter {
    std::vector<std::variant<Key, Index>> path;
    Comparison comparison = Comparison::exists;
    Json value;

    bool takes(const Json& item) const;
  };
  using Step = std::variant<Key, Index, All, Filter>;

  static void walk(const Step& step, const Json& from, std::vector<const Json*>& into);

  std::vector<Step> steps_;
};

}  // namespace fairlead::readiness

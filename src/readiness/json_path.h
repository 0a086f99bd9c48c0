// The part of kubectl's JSONPath that picks one value out of an object: {.status.phase}, {.spec.ports[0].port},
// {.status.conditions[?(@.type=="Ready")].status}, {.metadata.annotations.example\.com/x}, [*], [-1], ['a.b'].
// Slices, unions, recursion and text around the braces are errors that say so.
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
  // Without the braces; a dot at the start may be left out, as kubectl has it.
  static Result<JsonPath> parse(std::string_view text);

  // All that it leads to, in order; none where it leads nowhere. Never more than there are values in `root`.
  std::vector<const Json*> find(const Json& root) const;

 private:
  friend class JsonPathParser;
  struct Key {
    std::string name;
  };
  struct Index {
    int64_t at = 0;  // from the end where it is below zero
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

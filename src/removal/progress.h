// How far an object is on its way out, from what it says itself. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace fairlead::removal {

struct Progress {
  bool terminating = false;
  size_t finalizers = 0;
  // Of namespaces: how many objects are left in it.
  std::optional<uint64_t> remaining;
  // Of namespaces and CRDs: "Type=Status (Reason)" of each.
  std::string conditions;

  // It is further than it was: less stands in its way, or something else does.
  bool is_beyond(const Progress& before) const;
  bool operator==(const Progress&) const = default;
};

Progress progress_of(const Json& object);

// What a namespace says that is left in it: "configmaps.", "widgets.example.com" and how many.
struct RemainingKind {
  std::string resource;
  std::string group;
  uint64_t count = 0;
  bool operator==(const RemainingKind&) const = default;
};
std::vector<RemainingKind> remaining_in(const Json& ns);

// The condition of that type; null if there is none.
const Json& condition_of(const Json& object, std::string_view type);

}  // namespace fairlead::removal

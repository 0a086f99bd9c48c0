// Reads from an object how far its deletion has come. Pure.
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
  // For a namespace: how many objects are left in it.
  std::optional<uint64_t> remaining;
  // "Type=Status (Reason)" of each condition, such as those of namespaces and CRDs.
  std::string conditions;

  // True if the deletion has made progress: less blocks it than before, or something else does.
  bool is_beyond(const Progress& before) const;
  bool operator==(const Progress&) const = default;
};

Progress progress_of(const Json& object);

// One kind of which a terminating namespace reports remaining objects: "configmaps." or "widgets.example.com", and how
// many.
struct RemainingKind {
  std::string resource;
  std::string group;
  uint64_t count = 0;
  bool operator==(const RemainingKind&) const = default;
};
std::vector<RemainingKind> remaining_in(const Json& ns);

}  // namespace fairlead::removal

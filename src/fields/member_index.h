// Finds and sorts the members of large objects.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::fields {

// Json::Object finds a member with a linear scan. That is fine for usual objects, but not for a ConfigMap with a
// hundred thousand keys, which an attacker may send. The object must not change while the index is used.
class MemberIndex {
 public:
  explicit MemberIndex(const Json::Object& object) : object_(object) {
    if (object.size() <= kScanned) return;
    for (const Json::Member& member : object) sorted_.push_back(&member);
    std::sort(sorted_.begin(), sorted_.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  }

  const Json* find(std::string_view key) const {
    if (sorted_.empty()) return object_.find(key);
    auto place = std::lower_bound(sorted_.begin(), sorted_.end(), key,
                                  [](const auto* a, std::string_view b) { return a->key < b; });
    return place != sorted_.end() && (*place)->key == key ? &(*place)->value : nullptr;
  }

 private:
  static constexpr size_t kScanned = 32;
  const Json::Object& object_;
  std::vector<const Json::Member*> sorted_;
};

// Returns the members sorted by key.
inline std::vector<const Json::Member*> sorted_members(const Json::Object& object) {
  std::vector<const Json::Member*> sorted;
  sorted.reserve(object.size());
  for (const Json::Member& member : object) sorted.push_back(&member);
  auto by_key = [](const auto* a, const auto* b) { return a->key < b->key; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), by_key)) std::sort(sorted.begin(), sorted.end(), by_key);
  return sorted;
}

}  // namespace fairlead::fields

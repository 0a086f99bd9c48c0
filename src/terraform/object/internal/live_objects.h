// Objects that a refresh has just read, for the plan that follows in the same process.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "inventory/unchanged.h"
#include "terraform/cluster/clusters.h"
#include "terraform/objects/reference.h"

namespace fairlead::terraform {

class LiveObjects {
 public:
  void put(const Connection& cluster, const Reference& reference, Json object) {
    objects_.insert_or_assign(key_of(cluster, reference), std::move(object));
  }
  // Each object is used once, because it gets old.
  std::optional<Json> take(const Connection& cluster, const Reference& reference) {
    auto found = objects_.extract(key_of(cluster, reference));
    return found ? std::optional(std::move(found.mapped())) : std::nullopt;
  }
  // The schemas of built-in kinds.
  inventory::Types& types() { return types_; }

 private:
  static std::string key_of(const Connection& cluster, const Reference& reference) {
    return fmt::format("{} {} {}", static_cast<const void*>(&cluster), reference.api_version,
                       reference.key.text_with_group());
  }

  std::map<std::string, Json> objects_;
  inventory::Types types_;
};

}  // namespace fairlead::terraform

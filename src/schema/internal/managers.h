// Owners of fields, by identity, while a write is worked out.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fields/managed_fields.h"
#include "schema/apply.h"

namespace fairlead::schema {

using Managers = std::map<std::string, fields::ManagedEntry>;

Managers by_identity(std::vector<fields::ManagedEntry> entries);
std::vector<fields::ManagedEntry> listed(const Managers& managers);

struct Conflict {
  std::string manager;  // its identity
  fields::Path path;
};

// Objects and sets in the versions that their owners wrote in.
class Versions {
 public:
  explicit Versions(const Target& target) : target_(target) {}

  const Schema& schema() const { return *target_.versions.find(target_.api_version)->second; }
  // Null for a version that is no longer served.
  const Schema* schema(std::string_view api_version) const;
  Json convert(const Json& object, std::string_view api_version) const;
  const std::string& own() const { return target_.api_version; }

 private:
  const Target& target_;
};

// Takes from every owner but `self` what a change from `before` to `after` takes: fields that changed, if `force`d,
// and fields that are gone. Without force, changed fields of others are conflicts and nothing is taken.
std::vector<Conflict> take_over(const Versions& versions, const fields::FieldSet& reset, const Json& before,
                                const Json& after, Managers& managers, const std::string& self, bool force);

// The merged object without what `self` applied before (`last`) and does not apply now, if nobody else owns it.
Json pruned(const Versions& versions, const Json& merged, const Managers& managers, const std::string& self,
            const fields::ManagedEntry& last);

// Ten updaters are enough: the oldest are merged into one.
void cap_updaters(Managers& managers);

}  // namespace fairlead::schema

// A patched object: its values and owners, and the requests about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fields/field_set.h"
#include "terraform/cluster/clusters.h"
#include "terraform/objects/reference.h"
#include "terraform/patch/content.h"
#include "terraform/projection/projection.h"

namespace fairlead::terraform {

const Schema& patch_schema();

// The field manager of the patch with this id.
std::string manager_of(std::string_view id);
FieldRules patch_rules(const Value& value);

// Projections as they are kept in private state.
Flat flat_in(const Json& json);
Json json_of(const Flat& flat);

// What a patch has made of an object, or would make.
Flat patched_values(const PatchContent& content, const Json& object, std::string_view manager, const FieldRules& rules);
// The values that the object has now at the places of a projection.
Flat values_now(const Json& object, const Flat& before, const FieldRules& rules);
// The owners of the places of a projection.
Flat owners_at(const Json& object, const Flat& projection, const FieldRules& rules);

// One target in its cluster.
struct PatchSite {
  Connection* cluster = nullptr;
  object::Resource resource;
  Reference reference;

  // False if the cluster does not serve the kind.
  Task<kube::Outcome<bool>> find_kind();
  Task<kube::Outcome<kube::Reply>> read();
  Task<kube::Outcome<kube::Reply>> send(const PatchContent& content, const Json& live, std::string manager,
                                        bool dry_run);
  // Gives fields back to those of `before`, which owners_among() returned; all of the manager's without `only`. The
  // values stay.
  Task<kube::Outcome<void>> release(std::string manager, std::optional<fields::FieldSet> only, Json before);
};

}  // namespace fairlead::terraform

// The bundles of Fairlead in a snapshot.
#pragma once

#include <optional>
#include <vector>

#include "doctor/snapshot.h"
#include "history/history.h"
#include "inventory/applyset.h"
#include "inventory/membership.h"

namespace fairlead::doctor {

// The kinds of which every member of a bundle can be found in the snapshot: those that doctor reads as a whole, and
// those whose members were listed.
bool sees_members(const Snapshot& snapshot, const std::string& group, const std::string& kind);

// What the inventory of a bundle says.
struct Record {
  inventory::BundleName bundle;
  inventory::Coverage coverage;
  // A run is working on the bundle.
  bool is_claimed = false;
  // The newest revision, if it was done and its manifests are kept in one Secret.
  std::optional<history::Revision> revision;

  // That Secret.
  object::Key revision_secret() const;
};
// In the order of the snapshot. Inventories of other tools are left out.
std::vector<Record> records_of(const Snapshot& snapshot);

}  // namespace fairlead::doctor

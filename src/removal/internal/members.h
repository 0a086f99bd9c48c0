// Deletes the members of a named bundle under the bundle's claim, and then the bundle's record.
#pragma once

#include "inventory/inventory.h"
#include "removal/removal.h"

namespace fairlead::removal {

// Requires that the record exists. If only a webhook blocks the claim, the members are deleted without it: nobody else
// can write the record either, and that webhook may be deleted with the bundle. The claim is then taken at the end.
Task<Ending> take_out_members(kube::Client& client, kube::Discovery& discovery, inventory::Inventory& inventory,
                              Options options, journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::removal

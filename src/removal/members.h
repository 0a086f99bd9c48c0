// The members of a bundle with a name, taken out under the bundle's claim; and its record, once they are gone.
#pragma once

#include "inventory/inventory.h"
#include "removal/removal.h"

namespace fairlead::removal {

// The inventory is open, and its record exists. A claim that only a webhook stands in the way of is done without:
// nobody else can write the record either, and that webhook may well go with the bundle. It is claimed at the end then.
Task<Ending> take_out_members(kube::Client& client, kube::Discovery& discovery, inventory::Inventory& inventory,
                              Options options, journal::Journal& journal, CancelSource* stop);

// A run that was over before it began.
Ending failed_with(std::vector<Error> errors);
// The time was over while something had to be known first, and this came of that.
Ending late(const Error& error, const Options& options);

}  // namespace fairlead::removal

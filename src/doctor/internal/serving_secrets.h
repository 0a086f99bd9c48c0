// Finds the Secrets that the pods behind webhooks mount: one of them has the certificate that the webhook serves with.
#pragma once

#include <vector>

#include "doctor/internal/backends.h"
#include "doctor/snapshot.h"

namespace fairlead::doctor {

// Returns the Secrets of all backends, without duplicates. Those that look like certificates come first.
std::vector<object::Key> serving_secrets(const Snapshot& snapshot);

// Returns the Secrets that the pods of this Service mount.
std::vector<object::Key> mounted_secrets(const Snapshot& snapshot, const admission::ServiceReference& service);

}  // namespace fairlead::doctor

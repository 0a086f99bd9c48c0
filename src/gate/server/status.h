// The status of a gate: read from its replicas, and shown.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "kube/client.h"

namespace fairlead::gate {

// Asks every replica that runs, through the API server. Fails if there is none that answers.
Task<Result<std::vector<Json>>> read_status(kube::Client& client, std::string ns, std::string name);

// One status of several replicas: what waits, waits at one of them. Pure.
Json merge_status(const std::vector<Json>& replicas);

// For people. Pure.
std::string status_text(const Json& status);

}  // namespace fairlead::gate

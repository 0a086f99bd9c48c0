// What the commands share that make certificates: `fairlead certs`, and `fairlead webhook serve`.
#pragma once

#include <string>

#include "certs/proofs.h"
#include "cli/core/connect.h"

namespace fairlead::cli {

// Days as 90d, or what kubectl takes as a duration. An error names the flag.
Result<Duration> read_days(const std::string& flag, const std::string& text);

// Proofs by this process, with handshakes over the network. The cluster must outlive them.
certs::ClusterProofs::Options proof_options(Cluster& cluster);

}  // namespace fairlead::cli

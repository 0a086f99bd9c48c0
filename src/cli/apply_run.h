// Server-side applies a bundle in the order given: neighbours of one kind side by side, one kind after another.
#pragma once

#include <optional>
#include <string>

#include "cli/apply_output.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "manifest/manifest.h"

namespace fairlead::cli {

struct ApplyPlan {
  std::string field_manager;
  bool force = false;
  bool dry_run = false;
  // For what names none; and whether the user asked for it, so that another one in a manifest is a contradiction.
  std::string default_namespace;
  bool namespace_is_chosen = false;
};

// Puts objects into their namespaces, as far as the kinds are known by now, and finds what contradicts itself. To be
// done before anything is sent.
Task<Result<manifest::Errors>> prepare(kube::Discovery& discovery, const ApplyPlan& plan, manifest::Bundle& bundle);

// Sends everything. What the server refuses goes to the output; the error is one that ended the run: no answer any
// more, or cancelled.
Task<Result<void>> send_all(kube::Client& client, kube::Discovery& discovery, const ApplyPlan& plan,
                            manifest::Bundle& bundle, ApplyOutput& output);

}  // namespace fairlead::cli

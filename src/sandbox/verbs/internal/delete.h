// delete and deletecollection: preconditions, grace, propagation, finalizers.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

struct DeleteOptions {
  std::optional<int64_t> grace_seconds;
  std::string propagation;  // Foreground, Background, Orphan; empty: what the kind does by default
  std::optional<bool> orphan_dependents;
  std::string uid, resource_version;  // preconditions
  bool dry_run = false;
  bool of_collection = false;  // then admission is told no name
  Json json;                   // as webhooks see it
};
Outcome<DeleteOptions> delete_options(const Call& call);

struct Deleted {
  Json object;
  bool gone = false;  // there is nothing left of it
};
// From admission to the store.
Task<Outcome<Deleted>> delete_one(ApiServer& server, Call& call, const Kind& kind, Place place, DeleteOptions options);

Task<Outcome<Reply>> delete_object(ApiServer& server, Call& call, const Kind& kind);
Task<Outcome<Reply>> delete_collection(ApiServer& server, Call& call, const Kind& kind);

}  // namespace fairlead::sandbox

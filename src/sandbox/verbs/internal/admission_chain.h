// What stands between a request that has been understood and the store: the server's own rules, webhooks and policies.
#pragma once

#include "sandbox/verbs/api_server.h"

namespace fairlead::sandbox {

enum class Operation { create, update, remove, connect };

struct Attributes {
  const Kind& kind;
  Place place;
  std::string subresource;
  Operation operation = Operation::create;
  Json* object = nullptr;     // may be changed by mutating admission; null for deletions
  const Json* old = nullptr;  // null for creations
  Json options;               // CreateOptions, UpdateOptions, ...
  bool dry_run = false;
};

// In the order of the real server: namespaces, service accounts and other rules of its own, then mutating policies,
// then mutating webhooks.
Task<Outcome<void>> admit_mutating(ApiServer& server, Call& call, Attributes& attributes);
// Policies, validating webhooks, quotas.
Task<Outcome<void>> admit_validating(ApiServer& server, Call& call, Attributes& attributes);

}  // namespace fairlead::sandbox

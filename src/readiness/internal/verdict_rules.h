// The rules for single kinds, and their helpers. For verdict*.cc, ready_when.cc, why*.cc and their tests only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "object/condition.h"
#include "readiness/verdict.h"

namespace fairlead::readiness {

Verdict ready(std::string reason);
Verdict in_progress(std::string reason);
Verdict failed(std::string reason);
Verdict failed_for_good(std::string reason);

using object::condition;
using object::has_status;
// True if the condition, or else the whole status, was written for an older generation of the object.
bool is_stale(const Json& object, const Json& condition);
// For example "Available is False: MissingEndpoints: endpointslices have no addresses". Parts that are missing are left
// out.
std::string condition_text(const Json& condition);
// For example "MissingEndpoints: endpointslices have no addresses", from the members reason and message. Returns the
// fallback if there is neither.
std::string reason_text(const Json& value, std::string_view fallback);

// Reads a number that cannot be negative. Hostile input may contain anything; a negative number becomes zero.
int64_t count(const Json& value, int64_t fallback = 0);

// Returns the rule for a kind, or null if only the general rules apply.
using Rule = Verdict (*)(const Json& object, const Options& options);
Rule rule_for(std::string_view group, std::string_view kind);

Verdict judge_deployment(const Json& object, const Options& options);
Verdict judge_stateful_set(const Json& object, const Options& options);
Verdict judge_daemon_set(const Json& object, const Options& options);
Verdict judge_replica_set(const Json& object, const Options& options);
Verdict judge_job(const Json& object, const Options& options);
Verdict judge_pod(const Json& object, const Options& options);
Verdict judge_claim(const Json& object, const Options& options);
Verdict judge_volume(const Json& object, const Options& options);
Verdict judge_service(const Json& object, const Options& options);
Verdict judge_ingress(const Json& object, const Options& options);
Verdict judge_namespace(const Json& object, const Options& options);
Verdict judge_definition(const Json& object, const Options& options);
Verdict judge_api_service(const Json& object, const Options& options);
Verdict judge_autoscaler(const Json& object, const Options& options);
Verdict judge_webhooks(const Json& object, const Options& options);

}  // namespace fairlead::readiness

// The rules of single kinds, and what they are made of. Only verdict*.cc and their tests look in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "readiness/verdict.h"

namespace fairlead::readiness {

Verdict ready(std::string reason);
Verdict in_progress(std::string reason);
Verdict failed(std::string reason);
Verdict failed_for_good(std::string reason);

// One of status.conditions; null where there is none of that type.
const Json& condition(const Json& object, std::string_view type);
bool has_status(const Json& condition, std::string_view status);
// Whether it was written for an older generation of the object: it says so itself.
bool is_stale(const Json& object, const Json& condition);
// "Available is False: MissingEndpoints: endpointslices have no addresses", what is not there left out.
std::string condition_text(const Json& condition);
// "MissingEndpoints: endpointslices have no addresses", from members reason and message; else the fallback.
std::string reason_text(const Json& value, std::string_view fallback);

// Numbers of things, where hostile input may have anything: below zero is zero.
int64_t count(const Json& value, int64_t fallback = 0);

// The one for that kind, or null where the general rules are all there is.
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

#include "kube/faults/fault.h"

namespace fairlead::kube {

#define FAIRLEAD_NAME(name) \
  case Names::name: return #name

std::string_view name_of(FaultKind kind) {
  using Names = FaultKind;
  switch (kind) {
    FAIRLEAD_NAME(webhook_service_missing);
    FAIRLEAD_NAME(webhook_port_missing);
    FAIRLEAD_NAME(webhook_no_endpoints);
    FAIRLEAD_NAME(webhook_refused);
    FAIRLEAD_NAME(webhook_timeout);
    FAIRLEAD_NAME(webhook_hung_up);
    FAIRLEAD_NAME(webhook_untrusted);
    FAIRLEAD_NAME(webhook_wrong_certificate);
    FAIRLEAD_NAME(webhook_not_https);
    FAIRLEAD_NAME(webhook_path_missing);
    FAIRLEAD_NAME(webhook_busy);
    FAIRLEAD_NAME(webhook_answered_error);
    FAIRLEAD_NAME(webhook_bad_response);
    FAIRLEAD_NAME(webhook_unreachable);
    FAIRLEAD_NAME(webhook_denied);
    FAIRLEAD_NAME(webhook_no_dry_run);
    FAIRLEAD_NAME(match_condition_failed);
    FAIRLEAD_NAME(policy_denied);
    FAIRLEAD_NAME(policy_unconfigured);
    FAIRLEAD_NAME(pod_security);
    FAIRLEAD_NAME(conversion_failed);
    FAIRLEAD_NAME(conversion_bad_result);
    FAIRLEAD_NAME(not_served);
    FAIRLEAD_NAME(definition_terminating);
    FAIRLEAD_NAME(namespace_missing);
    FAIRLEAD_NAME(namespace_terminating);
    FAIRLEAD_NAME(object_terminating);
    FAIRLEAD_NAME(apiservice_unavailable);
    FAIRLEAD_NAME(service_account_missing);
    FAIRLEAD_NAME(quota_exceeded);
    FAIRLEAD_NAME(quota_uncounted);
    FAIRLEAD_NAME(quota_conflict);
    FAIRLEAD_NAME(disruption_budget);
    FAIRLEAD_NAME(server_starting);
    FAIRLEAD_NAME(server_stopping);
    FAIRLEAD_NAME(server_unavailable);
    FAIRLEAD_NAME(server_error);
    FAIRLEAD_NAME(too_many_requests);
    FAIRLEAD_NAME(request_timeout);
    FAIRLEAD_NAME(version_ahead);
    FAIRLEAD_NAME(storage_unavailable);
    FAIRLEAD_NAME(storage_full);
    FAIRLEAD_NAME(expired);
    FAIRLEAD_NAME(unauthorized);
    FAIRLEAD_NAME(forbidden);
    FAIRLEAD_NAME(refused);
    FAIRLEAD_NAME(not_found);
    FAIRLEAD_NAME(already_exists);
    FAIRLEAD_NAME(field_conflict);
    FAIRLEAD_NAME(conflict);
    FAIRLEAD_NAME(invalid);
    FAIRLEAD_NAME(immutable_field);
    FAIRLEAD_NAME(schema);
    FAIRLEAD_NAME(too_large);
    FAIRLEAD_NAME(bad_request);
    FAIRLEAD_NAME(not_supported);
    FAIRLEAD_NAME(unexpected);
  }
  return "unknown";
}

std::string_view name_of(Disposition disposition) {
  using Names = Disposition;
  switch (disposition) {
    FAIRLEAD_NAME(passing);
    FAIRLEAD_NAME(parked);
    FAIRLEAD_NAME(permanent);
  }
  return "unknown";
}

std::string_view name_of(Awaited awaited) {
  using Names = Awaited;
  switch (awaited) {
    FAIRLEAD_NAME(nothing);
    FAIRLEAD_NAME(service);
    FAIRLEAD_NAME(endpoints);
    FAIRLEAD_NAME(ca_bundle);
    FAIRLEAD_NAME(certificate);
    FAIRLEAD_NAME(conversion);
    FAIRLEAD_NAME(definition);
    FAIRLEAD_NAME(definition_gone);
    FAIRLEAD_NAME(api_service);
    FAIRLEAD_NAME(namespace_there);
    FAIRLEAD_NAME(namespace_gone);
    FAIRLEAD_NAME(object_gone);
    FAIRLEAD_NAME(service_account);
    FAIRLEAD_NAME(quota);
    FAIRLEAD_NAME(disruption_budget);
    FAIRLEAD_NAME(parameters);
  }
  return "unknown";
}

#undef FAIRLEAD_NAME

}  // namespace fairlead::kube

// What an answer of the API server means when it is not a success: a Fault.
//
// Pure: the request's method and target, the HTTP status, headers and body go in; what failed, whether it passes, what
// it waits for, one plain sentence and what to look at come out. Decided by the HTTP code, the content type and the
// Status object; text is matched only where the server gives nothing else: what it says about calling a webhook, and a
// few fixed sentences of a Status. Bodies are hostile: any size, any bytes. Nothing that an answer about a Secret
// quotes gets out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "http/message.h"

namespace fairlead::kube {

enum class FaultKind {
  // The API server could not get an answer from an admission or conversion webhook (HTTP 500).
  webhook_service_missing,    // the Service is not there
  webhook_port_missing,       // the Service has no such port
  webhook_no_endpoints,       // no endpoint is ready (servers that route to endpoints themselves say so)
  webhook_refused,            // nothing listens, or a ClusterIP without endpoints: the text is the same
  webhook_timeout,            // no answer in time, no route, no such host
  webhook_hung_up,            // the connection broke: a pod on its way out
  webhook_untrusted,          // not signed by the caBundle
  webhook_wrong_certificate,  // for another name, expired, not valid yet, or a handshake that was refused
  webhook_not_https,          // speaks no TLS: the wrong port
  webhook_path_missing,       // answered 404
  webhook_busy,               // answered 503 or 429
  webhook_answered_error,     // answered another HTTP error
  webhook_bad_response,  // answered something that is no AdmissionReview or ConversionReview, or a patch that fails
  webhook_unreachable,   // not called, for a reason in words that are not known here

  // An admission webhook, or what is like one, gave its answer.
  webhook_denied,          // a real denial, and the proof that the webhook works
  webhook_no_dry_run,      // has side effects: cannot be probed by dry run
  match_condition_failed,  // a matchCondition of some webhook ended in an error
  policy_denied,           // a ValidatingAdmissionPolicy or MutatingAdmissionPolicy
  policy_unconfigured,     // a policy whose parameters, or their kind, the server does not find
  pod_security,            // Pod Security admission

  conversion_failed,      // the conversion webhook said no, or failed in words that are not known here
  conversion_bad_result,  // it gave back something else than was asked for

  not_served,              // nobody serves this API: no such CRD, version, scope; or not established yet
  definition_terminating,  // the CRD is on its way out
  namespace_missing,
  namespace_terminating,
  object_terminating,      // an object of that name is still on its way out
  apiservice_unavailable,  // the server behind an aggregated API is not there
  service_account_missing,
  quota_exceeded,
  quota_uncounted,    // the quota controller has not counted yet
  quota_conflict,     // two requests changed the same quota
  disruption_budget,  // an eviction that a PodDisruptionBudget does not allow now

  server_starting,
  server_stopping,
  server_unavailable,  // 502, 503 from whoever stands in between, or without a reason that is known
  server_error,        // any other 5xx
  too_many_requests,
  request_timeout,      // 504: the outcome is not known
  version_ahead,        // this server has not seen that resourceVersion yet
  storage_unavailable,  // etcd: leader changed, request timed out
  storage_full,
  expired,  // 410: a resourceVersion or continue token that is too old

  unauthorized,
  forbidden,  // RBAC. Valid users can get it for a moment while the server starts
  refused,    // any other 403: an admission plug-in
  not_found,
  already_exists,
  field_conflict,  // server-side apply: others own these fields
  conflict,        // changed meanwhile, or a precondition that does not hold
  invalid,
  immutable_field,
  schema,  // unknown fields or wrong types
  too_large,
  bad_request,
  not_supported,  // method, media type
  unexpected,     // an answer that no API server gives: a redirect, a page of a proxy
};
std::string_view name_of(FaultKind kind);

enum class Disposition {
  passing,    // the same request can work soon, by itself
  parked,     // it can work once `wait` has come true
  permanent,  // the same request cannot work
};
std::string_view name_of(Disposition disposition);

// What a parked request waits for.
enum class Awaited {
  nothing,
  service,      // that Service, with that port
  endpoints,    // a ready endpoint of that Service that listens
  ca_bundle,    // a caBundle, in that webhook or CRD, that the served certificate verifies against
  certificate,  // another certificate behind that Service
  conversion,   // a conversion webhook, of that CRD, that answers
  definition,   // that CRD, established
  definition_gone,
  api_service,  // that APIService, Available
  namespace_there,
  namespace_gone,
  object_gone,
  service_account,
  quota,  // room in that ResourceQuota
  disruption_budget,
  parameters,  // those of that policy
};
std::string_view name_of(Awaited awaited);

struct Wait {
  Awaited what = Awaited::nothing;
  // In its namespace, where it has one. The name is empty where the answer does not give it.
  std::string ns;
  std::string name;
  // It will not come by itself: waiting makes sense only while it is still to be applied, or about to be established.
  bool only_if_expected = false;

  bool operator==(const Wait&) const = default;
};

// The webhook of which an answer speaks.
struct FaultWebhook {
  enum class Role { admission, conversion };
  Role role = Role::admission;
  // The hook's name for admission; "GROUP/VERSION, Kind=KIND" for conversion.
  std::string name;
  // From the URL that the server called, where it gives one. Service and namespace are empty for a webhook with a URL.
  std::string service;
  std::string ns;
  int port = 0;
  std::string path;
  std::string url;  // without its query

  bool operator==(const FaultWebhook&) const = default;
};

struct FaultCause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const FaultCause&) const = default;
};

struct Fault {
  FaultKind kind = FaultKind::unexpected;
  Disposition disposition = Disposition::permanent;
  int http = 0;

  // As the Status has it; the message is the start of the body where there is no Status.
  std::string reason;
  std::string message;
  std::vector<FaultCause> causes;

  std::optional<FaultWebhook> webhook;
  // The policy, quota, budget or service account that the answer names and no other member has.
  std::string subject;
  Wait wait;
  std::optional<Duration> retry_after;
  // It will hardly be better by waiting: worth telling at once, even though it may pass.
  bool tell_early = false;
  // The write may have happened: read back before sending it again.
  bool outcome_unknown = false;
  // This server is going away: use another connection.
  bool reconnect = false;

  // One plain sentence, and what to look at (a command, or what to change); the advice may be empty.
  std::string explanation;
  std::string advice;
};

// Nothing if the answer is a success.
std::optional<Fault> classify(std::string_view method, std::string_view target, int http, const http::Headers& headers,
                              std::string_view body);

// What a server would have to answer that calls a webhook through a Service with nobody ready behind it: for whoever
// sees that coming, and does not ask.
Fault no_endpoints(FaultWebhook webhook);

// A Status that came inside something else, as an ERROR event of a watch.
Fault classify_status(std::string_view method, std::string_view target, const Json& status);

// As an error: the explanation, the server's own words as the cause, the advice as what to do next.
Error as_error(const Fault& fault);

}  // namespace fairlead::kube

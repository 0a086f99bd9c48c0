#include "kube/faults/fault.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plain_text.h"
#include "kube/faults/field_error.h"
#include "kube/faults/internal/fault_words.h"
#include "kube/faults/internal/request_path.h"
#include "kube/faults/internal/retry_after.h"
#include "kube/faults/webhook_text.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxStatusBytes = size_t{4} << 20;
constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxCauses = 64;

// Everything that is known about an answer while its kind is being found.
struct Reading {
  RequestPath path;
  std::string_view method;
  int http;
  bool has_status = false;
  std::string message;  // as it came
  std::string reason;
  std::string details_kind;
  std::string details_name;
  std::vector<FaultCause> causes;
  bool plain = false;          // Content-Type: text/plain
  std::string_view body_text;  // trimmed

  bool has_cause(std::string_view wanted) const {
    return std::ranges::any_of(causes, [&](const FaultCause& cause) { return cause.reason == wanted; });
  }
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

void read_status(const Json& status, Reading& reading, Fault& fault) {
  reading.has_status = true;
  reading.message = status["message"].string_or("");
  reading.reason = status["reason"].string_or("");
  const Json& details = status["details"];
  reading.details_kind = details["kind"].string_or("");
  reading.details_name = details["name"].string_or("");
  for (const Json& cause : details["causes"].items()) {
    if (reading.causes.size() == kMaxCauses) break;
    reading.causes.push_back({.reason = std::string(cause["reason"].string_or("")),
                              .message = std::string(cause["message"].string_or("")),
                              .field = std::string(cause["field"].string_or(""))});
  }
  fault.retry_after = retry_after_of(status);
}

// `configmaps "one" is forbidden: WHY` gives WHY. Names cannot contain a quote.
std::string_view why_forbidden(const Reading& reading) {
  constexpr std::string_view kForbidden = " is forbidden: ";
  std::string_view message = reading.message;
  size_t at = message.find(kForbidden);
  return at == std::string_view::npos ? std::string_view() : message.substr(at + kForbidden.size());
}

// The name that `prefix` introduces, up to `end`; empty if the text does not start so.
std::string_view named_after(std::string_view text, std::string_view prefix, std::string_view end) {
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  size_t stop = text.find(end);
  return stop == std::string_view::npos ? std::string_view() : text.substr(0, stop);
}

void park(Fault& fault, Awaited what, std::string_view ns, std::string_view name, bool only_if_expected = false) {
  fault.disposition = Disposition::parked;
  fault.wait = {.what = what, .ns = std::string(ns), .name = std::string(name), .only_if_expected = only_if_expected};
}

void set(Fault& fault, FaultKind kind, Disposition disposition) {
  fault.kind = kind;
  fault.disposition = disposition;
}

// What a call of a webhook that ended so waits for.
void dispose_webhook(Fault& fault, const RequestPath& path) {
  const FaultWebhook& webhook = *fault.webhook;
  fault.disposition = Disposition::passing;
  switch (fault.kind) {
    case FaultKind::webhook_service_missing:
    case FaultKind::webhook_port_missing: return park(fault, Awaited::service, webhook.ns, webhook.service, true);
    case FaultKind::webhook_timeout: fault.tell_early = true; [[fallthrough]];
    case FaultKind::webhook_no_endpoints:
    case FaultKind::webhook_refused: return park(fault, Awaited::endpoints, webhook.ns, webhook.service);
    case FaultKind::webhook_untrusted:
      return park(fault, Awaited::ca_bundle, "",
                  webhook.role == FaultWebhook::Role::admission ? webhook.name : path.definition());
    case FaultKind::webhook_wrong_certificate:
      fault.tell_early = true;
      return park(fault, Awaited::certificate, webhook.ns, webhook.service);
    case FaultKind::conversion_failed:
      fault.tell_early = true;
      return park(fault, Awaited::conversion, "", path.definition());
    case FaultKind::webhook_answered_error:
    case FaultKind::webhook_unreachable: fault.tell_early = true; return;
    // A denial that says when to come again is none for good: that is how the gate makes clients wait.
    case FaultKind::webhook_denied:
      if (fault.http != 429 || !fault.retry_after) fault.disposition = Disposition::permanent;
      return;
    case FaultKind::webhook_not_https:
    case FaultKind::webhook_bad_response:
    case FaultKind::webhook_no_dry_run:
    case FaultKind::conversion_bad_result: fault.disposition = Disposition::permanent; return;
    default: return;
  }
}

void find_403(const Reading& reading, Fault& fault) {
  std::string_view why = why_forbidden(reading);
  set(fault, FaultKind::refused, Disposition::permanent);
  if (reading.has_cause("NamespaceTerminating")) {
    fault.kind = FaultKind::namespace_terminating;
    park(fault, Awaited::namespace_gone, "", reading.path.ns);
  } else if (why.starts_with("User \"") || reading.message.starts_with("forbidden: User \"")) {
    fault.kind = FaultKind::forbidden;
  } else if (std::string_view account = named_after(why, "error looking up service account ", ": "); !account.empty()) {
    fault.kind = FaultKind::service_account_missing;
    size_t slash = account.find('/');
    std::string_view name = slash == std::string_view::npos ? account : account.substr(slash + 1);
    fault.subject = name;
    park(fault, Awaited::service_account, slash == std::string_view::npos ? reading.path.ns : account.substr(0, slash),
         name);
  } else if (std::string_view quota = named_after(why, "exceeded quota: ", ", requested: "); !quota.empty()) {
    fault.kind = FaultKind::quota_exceeded;
    fault.subject = quota;
    fault.tell_early = true;
    park(fault, Awaited::quota, reading.path.ns, quota);
  } else if (std::string_view uncounted = named_after(why, "status unknown for quota: ", ", resources: ");
             !uncounted.empty()) {
    set(fault, FaultKind::quota_uncounted, Disposition::passing);
    fault.subject = uncounted;
  } else if (why.starts_with("violates PodSecurity \"")) {
    fault.kind = FaultKind::pod_security;
  } else if (why.starts_with("expression '") && why.contains("' resulted in error: ")) {
    fault.kind = FaultKind::match_condition_failed;
  }
}

void find_404(const Reading& reading, Fault& fault) {
  bool of_nobody = reading.has_status ? reading.details_kind.empty() && reading.details_name.empty()
                                      : reading.plain && reading.body_text == "404 page not found";
  if (of_nobody) {
    set(fault, FaultKind::not_served, Disposition::permanent);
    // The groups of Kubernetes itself that have no dot get no new kinds by a CRD.
    if (reading.path.group.contains('.')) park(fault, Awaited::definition, "", reading.path.definition(), true);
  } else if (!reading.has_status) {
    set(fault, FaultKind::unexpected, Disposition::permanent);
  } else if (reading.details_kind == "namespaces" && reading.path.resource != "namespaces") {
    fault.kind = FaultKind::namespace_missing;
    park(fault, Awaited::namespace_there, "", reading.details_name, true);
  } else {
    set(fault, FaultKind::not_found, Disposition::permanent);
  }
}

void find_409(const Reading& reading, Fault& fault) {
  set(fault, FaultKind::conflict, Disposition::permanent);
  if (reading.reason == "AlreadyExists") {
    fault.kind = FaultKind::already_exists;
    if (reading.message.starts_with("object is being deleted: ")) {
      fault.kind = FaultKind::object_terminating;
      park(fault, Awaited::object_gone, reading.path.ns, reading.details_name);
    }
  } else if (reading.has_cause("FieldManagerConflict")) {
    fault.kind = FaultKind::field_conflict;
  } else if (reading.details_kind == "resourcequotas" && reading.path.resource != "resourcequotas") {
    set(fault, FaultKind::quota_conflict, Disposition::passing);
    fault.subject = reading.details_name;
  }
}

void find_422(const Reading& reading, Fault& fault) {
  set(fault, FaultKind::invalid, Disposition::permanent);
  // All of them: an object that is invalid as well would be refused again once the old one is deleted.
  bool immutable = std::ranges::all_of(
      reading.causes, [](const FaultCause& cause) { return is_about_immutability(cause.reason, cause.message); });
  if (immutable && !reading.causes.empty()) fault.kind = FaultKind::immutable_field;
}

void find_429(const Reading& reading, Fault& fault) {
  set(fault, FaultKind::too_many_requests, Disposition::passing);
  for (const FaultCause& cause : reading.causes) {
    if (cause.reason != "DisruptionBudget") continue;
    fault.kind = FaultKind::disruption_budget;
    fault.subject = named_after(cause.message, "The disruption budget ", " ");
    park(fault, Awaited::disruption_budget, reading.path.ns, fault.subject);
  }
}

// etcd's own words, which the API server passes on as they are.
bool is_storage(std::string_view message) {
  return message.starts_with("etcdserver: ") || message == "raft proposal dropped" ||
         message.starts_with("rpc error: code = Unavailable desc = ") ||
         message.starts_with("rpc error: code = Unknown desc = raft proposal dropped");
}

// What the JSON Patch library says. It can only be a mutating webhook's patch: for one of ours the server says 422.
bool is_failed_patch(std::string_view message) {
  size_t blank = message.find(' ');
  return blank != std::string_view::npos && message.substr(blank).starts_with(" operation does not apply: ");
}

void find_500(const Reading& reading, Fault& fault) {
  std::string_view message = reading.message;
  if (constexpr std::string_view kInternal = "Internal error occurred: "; message.starts_with(kInternal))
    message.remove_prefix(kInternal.size());
  // What cannot be read into its Go type: bad base64, times and quantities. It stays so, whatever the code says.
  bool is_unreadable = message.starts_with("failed to convert new object (") &&
                       message.contains("unable to convert unstructured object to ");
  if (reading.has_status && (is_unreadable || message.starts_with("failed to create typed patch object ("))) {
    set(fault, FaultKind::schema, Disposition::permanent);
  } else if (message == "etcdserver: request is too large") {
    set(fault, FaultKind::too_large, Disposition::permanent);
  } else if (message == "etcdserver: mvcc: database space exceeded") {
    set(fault, FaultKind::storage_full, Disposition::permanent);
  } else if (is_storage(message)) {
    set(fault, FaultKind::storage_unavailable, Disposition::passing);
    fault.outcome_unknown = true;
  } else if (reading.reason == "InternalError" && is_failed_patch(message)) {
    set(fault, FaultKind::webhook_bad_response, Disposition::permanent);
  } else {
    set(fault, FaultKind::server_error, Disposition::passing);
    fault.outcome_unknown = true;
  }
}

void find_503(const Reading& reading, Fault& fault) {
  set(fault, FaultKind::server_unavailable, Disposition::passing);
  if (reading.message.starts_with("the request has been made before all known HTTP paths have been installed")) {
    fault.kind = FaultKind::server_starting;
  } else if (reading.message == "apiserver is shutting down") {
    fault.kind = FaultKind::server_stopping;
    fault.reconnect = true;
  } else if (!reading.has_status && reading.plain && !reading.path.group.empty() &&
             (reading.body_text == "service unavailable" ||
              reading.body_text.starts_with("error trying to reach service: "))) {
    fault.kind = FaultKind::apiservice_unavailable;
    park(fault, Awaited::api_service, "", reading.path.api_service());
  }
}

bool is_terminating_definition(const Reading& reading) {
  return reading.message.ends_with(" not allowed while custom resource definition is terminating") ||
         reading.message.ends_with(" not allowed while CustomResourceDefinition is terminating");
}

// "ValidatingAdmissionPolicy 'NAME' with binding 'B' denied request: …", "policy 'NAME' with binding …" of a mutating
// one, and "policy "NAME" denied request: …" where that has no binding.
std::string_view policy_in(std::string_view text) {
  if (!text.contains(" denied request: ")) return {};
  for (auto [prefix, end] : {std::pair("ValidatingAdmissionPolicy '", "'"), {"policy '", "'"}, {"policy \"", "\""}})
    if (std::string_view name = named_after(text, prefix, end); !name.empty()) return name;
  return {};
}

// The reason of a denial, and so its code, is the author's.
bool find_policy(const Reading& reading, Fault& fault) {
  std::string_view first_cause = reading.causes.empty() ? std::string_view() : reading.causes[0].message;
  for (std::string_view text : {first_cause, why_forbidden(reading)}) {
    std::string_view name = policy_in(text);
    if (name.empty()) continue;
    set(fault, FaultKind::policy_denied, Disposition::permanent);
    fault.subject = name;
    bool lacks_parameters =
        text.contains("denied request: failed to configure policy: failed to find resource referenced by paramKind") ||
        (text.contains("denied request: failed to configure binding: ") &&
         (text.contains("no params found for policy binding") || text.contains("not yet synced to use for admission")));
    if (lacks_parameters) {
      fault.kind = FaultKind::policy_unconfigured;
      park(fault, Awaited::parameters, "", name, true);
    }
    return true;
  }
  return false;
}

void find_by_code(const Reading& reading, Fault& fault) {
  switch (reading.http) {
    case 400: {
      bool schema = reading.message.contains(": strict decoding error: ") ||
                    reading.message.starts_with("strict decoding error: ");
      return set(fault, schema ? FaultKind::schema : FaultKind::bad_request, Disposition::permanent);
    }
    case 401: return set(fault, FaultKind::unauthorized, Disposition::permanent);
    case 403: return find_403(reading, fault);
    case 404: return find_404(reading, fault);
    case 405:
    case 406:
    case 415: return set(fault, FaultKind::not_supported, Disposition::permanent);
    case 409: return find_409(reading, fault);
    case 410: return set(fault, FaultKind::expired, Disposition::passing);
    case 413: return set(fault, FaultKind::too_large, Disposition::permanent);
    case 422: return find_422(reading, fault);
    case 429: return find_429(reading, fault);
    case 500: return find_500(reading, fault);
    case 502: fault.outcome_unknown = true; return set(fault, FaultKind::server_unavailable, Disposition::passing);
    case 503: return find_503(reading, fault);
    case 504:
      set(fault, FaultKind::request_timeout, Disposition::passing);
      if (reading.has_cause("ResourceVersionTooLarge")) fault.kind = FaultKind::version_ahead;
      fault.outcome_unknown = fault.kind == FaultKind::request_timeout;
      return;
    default: break;
  }
  if (reading.http >= 500) {
    fault.outcome_unknown = true;
    return set(fault, FaultKind::server_error, Disposition::passing);
  }
  if (reading.http >= 400 && reading.has_status) return set(fault, FaultKind::bad_request, Disposition::permanent);
  set(fault, FaultKind::unexpected, Disposition::permanent);
}

// Decoders quote what they could not read. What may be a piece of a Secret goes, with everything behind it.
void withhold_secret(std::string& text) {
  size_t first = std::string::npos;
  for (std::string_view marker :
       {", got ", "Invalid value: ", "error found in #", "bigger context", "cannot unmarshal ",
        "Unsupported value: ", "Duplicate value: ", "invalid character "})
    first = std::min(first, text.find(marker));
  if (first == std::string::npos) return;
  text.resize(first);
  while (text.ends_with(' ') || text.ends_with(',')) text.pop_back();
  text += " (left out: it may quote the Secret)";
}

// The words of a message that say more than the kind of the fault does.
std::string_view telling_part(const Fault& fault, const Reading& reading) {
  std::string_view message = reading.message;
  auto after = [&](std::string_view marker) {
    size_t at = message.find(marker);
    return at == std::string_view::npos ? message : message.substr(at + marker.size());
  };
  switch (fault.kind) {
    case FaultKind::quota_exceeded: return after(fmt::format("exceeded quota: {}, ", fault.subject));
    case FaultKind::match_condition_failed: return why_forbidden(reading);
    case FaultKind::webhook_bad_response: return after("Internal error occurred: ");
    case FaultKind::schema:
      if (constexpr std::string_view kConvert = ": unable to convert unstructured object to ";
          message.contains(kConvert)) {
        std::string_view kind_and_why = after(kConvert);
        return kind_and_why.substr(std::min(kind_and_why.find(": "), kind_and_why.size() - 2) + 2);
      }
      return after(message.contains("strict decoding error: ") ? "strict decoding error: " : "): ");
    default: return message;
  }
}

// Values can be whole pod specs.
void shorten_values(Reading& reading) {
  for (FaultCause& cause : reading.causes) {
    std::string shorter = shorten_field_error(cause.message);
    if (size_t at = reading.message.find(cause.message); at != std::string::npos)
      reading.message.replace(at, cause.message.size(), shorter);
    cause.message = std::move(shorter);
  }
}

Fault decide(Reading reading, Fault fault) {
  fault.http = reading.http;
  // A POST goes to the collection: the answer knows the name.
  if (reading.path.name.empty() && (reading.details_kind == reading.path.resource || reading.http == 422))
    reading.path.name = reading.details_name;
  std::string tail;
  std::optional<WebhookText> webhook;
  if (reading.has_status && reading.http >= 400) webhook = read_webhook_text(reading.message);
  if (webhook) {
    fault.kind = webhook->kind;
    fault.webhook = std::move(webhook->webhook);
    tail = webhook->tail;
    dispose_webhook(fault, reading.path);
  } else if (is_terminating_definition(reading) && (reading.http == 403 || reading.http == 405)) {
    fault.kind = FaultKind::definition_terminating;
    park(fault, Awaited::definition_gone, "", reading.path.definition());
  } else if (!reading.has_status || reading.http < 400 || !find_policy(reading, fault)) {
    find_by_code(reading, fault);
  }
  if (reading.http == 422) shorten_values(reading);

  bool is_secret = reading.path.resource == "secrets";
  auto presentable = [&](std::string text, size_t max) {
    if (is_secret) withhold_secret(text);
    return plain_text(text, max);
  };
  fault.reason = plain_text(reading.reason, 128);
  if (reading.has_status || !is_secret)
    fault.message = presentable(reading.has_status ? reading.message : std::string(reading.body_text), kMaxMessage);
  for (const FaultCause& cause : reading.causes)
    fault.causes.push_back({.reason = plain_text(cause.reason, 128),
                            .message = presentable(cause.message, kMaxMessage),
                            .field = plain_text(cause.field, 512)});
  for (std::string* text : {&fault.subject, &fault.wait.ns, &fault.wait.name}) *text = plain_text(*text, 512);
  if (fault.webhook)
    for (std::string* text :
         {&fault.webhook->name, &fault.webhook->service, &fault.webhook->ns, &fault.webhook->path, &fault.webhook->url})
      *text = plain_text(*text, 1024);
  if (tail.empty()) tail = reading.has_status ? telling_part(fault, reading) : std::string_view(fault.message);
  explain(fault, reading.method, reading.path, presentable(tail, kMaxMessage));
  return fault;
}

bool starts_as_object(std::string_view body) {
  size_t at = body.find_first_not_of(" \t\r\n");
  return at != std::string_view::npos && body[at] == '{';
}

}  // namespace

std::optional<Fault> classify(std::string_view method, std::string_view target, int http, const http::Headers& headers,
                              std::string_view body) {
  if (http >= 200 && http < 300) return std::nullopt;
  Fault fault;
  Reading reading{.path = parse_request_path(target), .method = method, .http = http};
  // Whatever the content type: a request time-out is a Status sent as text/plain, and without its kind.
  if (body.size() <= kMaxStatusBytes && starts_as_object(body)) {
    Result<Json> json = Json::parse(body, {.bytes = kMaxStatusBytes, .depth = 32});
    if (json && ((*json)["kind"].string_or("") == "Status" || (*json)["status"].string_or("") == "Failure"))
      read_status(*json, reading, fault);
  }
  reading.plain = headers.find("Content-Type").value_or("").starts_with("text/plain");
  reading.body_text = trim(body.substr(0, kMaxMessage));
  if (std::optional<Duration> time = retry_after_of(headers)) fault.retry_after = time;
  return decide(std::move(reading), std::move(fault));
}

Fault classify_status(std::string_view method, std::string_view target, const Json& status) {
  Fault fault;
  int64_t code = status["code"].int_or(500);
  Reading reading{.path = parse_request_path(target),
                  .method = method,
                  .http = code >= 400 && code < 600 ? static_cast<int>(code) : 500};
  read_status(status, reading, fault);
  return decide(std::move(reading), std::move(fault));
}

Fault no_endpoints(FaultWebhook webhook) {
  Fault fault;
  fault.kind = FaultKind::webhook_no_endpoints;
  fault.webhook = std::move(webhook);
  dispose_webhook(fault, {});
  explain(fault, "", {}, "");
  return fault;
}

}  // namespace fairlead::kube

#include "kube/faults/internal/fault_words.h"

#include <fmt/format.h>

#include "base/plain_text.h"
#include "kube/faults/field_error.h"

namespace fairlead::kube {
namespace {

constexpr size_t kMaxTail = 600;

std::string who(const Fault& fault) {
  if (!fault.webhook) return "a mutating webhook";
  return fmt::format("{} {}",
                     fault.webhook->role == FaultWebhook::Role::admission ? "webhook" : "conversion webhook for",
                     fault.webhook->name);
}

// "service wh/refused" or "https://10.0.0.1:8443/x"
std::string where(const Fault& fault) {
  const FaultWebhook& webhook = *fault.webhook;
  if (!webhook.service.empty()) return fmt::format("service {}/{}", webhook.ns, webhook.service);
  return webhook.url.empty() ? "its address" : webhook.url;
}

std::string where_with_port(const Fault& fault) {
  return fault.webhook->service.empty() ? where(fault) : fmt::format("{}:{}", where(fault), fault.webhook->port);
}

std::string look_at_endpoints(const Fault& fault) {
  if (fault.webhook->service.empty()) return {};
  return fmt::format("kubectl -n {} get endpointslices -l kubernetes.io/service-name={}", fault.webhook->ns,
                     fault.webhook->service);
}

std::string look_at_service(const Fault& fault, std::string_view verb) {
  if (fault.webhook->service.empty()) return {};
  return fmt::format("kubectl -n {} {} service {}", fault.webhook->ns, verb, fault.webhook->service);
}

// Which configuration a hook belongs to is not in the answer: list them all, by hook.
std::string look_at_configurations(const Fault& fault, const RequestPath& path) {
  if (fault.webhook && fault.webhook->role == FaultWebhook::Role::conversion)
    return path.definition().empty() ? "kubectl get crd -o wide"
                                     : fmt::format("kubectl get crd {} -o yaml", path.definition());
  return "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml";
}

// "configmaps team-a/one"
std::string what_is_asked(const RequestPath& path) {
  if (path.resource.empty()) return "this path";
  if (path.resource == "namespaces" && !path.name.empty()) return fmt::format("namespace {}", path.name);
  std::string text(path.resource);
  if (!path.group.empty()) text += fmt::format(".{}", path.group);
  if (!path.ns.empty() || !path.name.empty()) text += ' ';
  if (!path.ns.empty()) text += fmt::format("{}{}", path.ns, path.name.empty() ? "" : "/");
  return text += path.name;
}

std::string in_namespace(const RequestPath& path) {
  return path.ns.empty() ? std::string() : fmt::format(" -n {}", path.ns);
}

std::string_view verb_of(std::string_view method, const RequestPath& path) {
  if (method == "PATCH") return "patch";
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "DELETE") return path.name.empty() ? "deletecollection" : "delete";
  return path.name.empty() ? "list" : "get";
}

// "spec.selector, spec.serviceName"
std::string fields_of(const Fault& fault) {
  std::string fields;
  for (const FaultCause& cause : fault.causes)
    if (!cause.field.empty() && !fields.contains(cause.field)) fields += (fields.empty() ? "" : ", ") + cause.field;
  return fields.empty() ? "a field" : fields;
}

std::string why_immutable(const Fault& fault) {
  std::string_view why =
      fault.causes.empty() ? std::string_view() : read_field_error(fault.causes.front().message).detail;
  // Of a Secret the words may be left out.
  return why.empty() || why.starts_with("(") ? "field is immutable" : plain_text(why, kMaxTail);
}

std::string_view what_goes_with_it(const RequestPath& path) {
  if (path.resource == "persistentvolumeclaims") return ", with its data,";
  if (path.resource == "customresourcedefinitions") return ", with all objects of its kind,";
  return "";
}

bool explain_webhook(Fault& fault, const RequestPath& path, const std::string& tail) {
  auto say = [&](std::string explanation, std::string advice) {
    fault.explanation = std::move(explanation);
    fault.advice = std::move(advice);
    return true;
  };
  switch (fault.kind) {
    case FaultKind::webhook_service_missing:
      return say(fmt::format("{} cannot be called: {} does not exist", who(fault), where(fault)),
                 look_at_service(fault, "get"));
    case FaultKind::webhook_port_missing:
      return say(fmt::format("{} cannot be called: {} has no port {}", who(fault), where(fault), fault.webhook->port),
                 look_at_service(fault, "describe"));
    case FaultKind::webhook_no_endpoints:
      return say(fmt::format("{} cannot be called: {} has no ready endpoint", who(fault), where(fault)),
                 look_at_endpoints(fault));
    case FaultKind::webhook_refused:
      return say(
          fmt::format("{} cannot be called: nothing listens behind {} ({})", who(fault), where_with_port(fault), tail),
          look_at_endpoints(fault));
    case FaultKind::webhook_timeout:
      return say(fmt::format("{} did not answer: {} is out of reach or too slow ({})", who(fault),
                             where_with_port(fault), tail),
                 look_at_endpoints(fault));
    case FaultKind::webhook_hung_up:
      return say(fmt::format("{} closed the connection: {} ({})", who(fault), where_with_port(fault), tail),
                 look_at_endpoints(fault));
    case FaultKind::webhook_untrusted:
      return say(fmt::format("{} is not trusted: its caBundle is missing, stale or not that of {} ({})", who(fault),
                             where(fault), tail),
                 look_at_configurations(fault, path));
    case FaultKind::webhook_wrong_certificate:
      return say(fmt::format("{} is not trusted: {} serves a certificate that does not verify ({})", who(fault),
                             where(fault), tail),
                 look_at_configurations(fault, path));
    case FaultKind::webhook_not_https:
      return say(fmt::format("{} cannot be called: {} does not speak HTTPS, so the port is wrong ({})", who(fault),
                             where_with_port(fault), tail),
                 look_at_service(fault, "describe"));
    case FaultKind::webhook_path_missing:
      return say(fmt::format("{} answered 404: its path is wrong, or its handler is not registered yet", who(fault)),
                 look_at_configurations(fault, path));
    case FaultKind::webhook_busy:
      return say(fmt::format("{} answered that it cannot serve the request now ({})", who(fault), tail), {});
    case FaultKind::webhook_answered_error:
      return say(fmt::format("{} answered with an error of its own: {}", who(fault), tail),
                 look_at_configurations(fault, path));
    case FaultKind::webhook_bad_response:
      return say(fmt::format("{} answered with something that the API server cannot use: {}", who(fault), tail),
                 look_at_configurations(fault, path));
    case FaultKind::webhook_unreachable:
      return say(fmt::format("{} cannot be called: {}", who(fault), tail), look_at_configurations(fault, path));
    case FaultKind::webhook_denied:
      return say(fault.message.ends_with(" denied the request without explanation")
                     ? fmt::format("{} denied the request without explanation", who(fault))
                     : fmt::format("{} denied the request: {}", who(fault), tail),
                 {});
    case FaultKind::webhook_no_dry_run:
      return say(fmt::format("{} has side effects, so the API server refuses dry runs that would call it", who(fault)),
                 "set sideEffects: None or NoneOnDryRun in its webhook configuration");
    case FaultKind::conversion_bad_result:
      return say(fmt::format("{} {}", who(fault), tail), look_at_configurations(fault, path));
    case FaultKind::conversion_failed:
      return say(fmt::format("{} failed: {}", who(fault), tail), look_at_configurations(fault, path));
    case FaultKind::match_condition_failed:
      return say(fmt::format("a matchCondition of a webhook ended in an error: {}", tail),
                 "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml");
    default: return false;
  }
}

bool explain_wait(Fault& fault, const RequestPath& path, const std::string& tail) {
  auto say = [&](std::string explanation, std::string advice) {
    fault.explanation = std::move(explanation);
    fault.advice = std::move(advice);
    return true;
  };
  const Wait& wait = fault.wait;
  switch (fault.kind) {
    case FaultKind::not_served:
      if (wait.what == Awaited::definition)
        return say(fmt::format("the API server does not serve {}: no CRD of that name is established with version {}",
                               wait.name.empty() ? path.group : wait.name, path.version),
                   wait.name.empty() ? fmt::format("kubectl api-resources --api-group={}", path.group)
                                     : fmt::format("kubectl get crd {}", wait.name));
      return say(path.resource.empty() ? std::string("the API server does not serve this path")
                                       : fmt::format("the API server does not serve {} in {}{}{}", path.resource,
                                                     path.group, path.group.empty() ? "" : "/", path.version),
                 "kubectl api-resources");
    case FaultKind::definition_terminating:
      return say(fmt::format("CRD {} is being deleted and accepts no new objects until it is deleted", wait.name),
                 fmt::format("kubectl get crd {} -o yaml", wait.name));
    case FaultKind::namespace_missing:
      return say(fmt::format("namespace {} does not exist", wait.name),
                 fmt::format("kubectl create namespace {}", wait.name));
    case FaultKind::namespace_terminating:
      return say(fmt::format("namespace {} is being deleted and accepts no new objects until it is deleted", wait.name),
                 fmt::format("kubectl get namespace {} -o yaml", wait.name));
    case FaultKind::object_terminating:
      return say(fmt::format("{} {} is still being deleted", path.resource, wait.name),
                 fmt::format("kubectl{} get {} {} -o yaml", in_namespace(path), path.resource, wait.name));
    case FaultKind::apiservice_unavailable:
      return say(fmt::format("APIService {} is not available: the server behind it does not answer", wait.name),
                 fmt::format("kubectl describe apiservice {}", wait.name));
    case FaultKind::service_account_missing:
      return say(fmt::format("service account {}/{} does not exist yet", wait.ns, wait.name),
                 fmt::format("kubectl -n {} get serviceaccount {}", wait.ns, wait.name));
    case FaultKind::quota_exceeded:
      return say(fmt::format("quota {} of namespace {} is exceeded: {}", wait.name, wait.ns, tail),
                 fmt::format("kubectl -n {} describe resourcequota {}", wait.ns, wait.name));
    case FaultKind::quota_uncounted:
      return say(fmt::format("quota {} of namespace {} has not been calculated yet", fault.subject, path.ns),
                 fmt::format("kubectl -n {} describe resourcequota {}", path.ns, fault.subject));
    case FaultKind::quota_conflict:
      return say(fmt::format("quota {} was changed by another request at the same time", fault.subject), {});
    case FaultKind::disruption_budget:
      return say(fmt::format("pod {}/{} cannot be evicted now: {}", path.ns, path.name,
                             fault.causes.empty() ? tail : fault.causes[0].message),
                 fmt::format("kubectl -n {} describe poddisruptionbudget {}", path.ns, wait.name));
    default: return false;
  }
}

bool explain_server(Fault& fault, const std::string& tail) {
  auto say = [&](std::string explanation, std::string advice = {}) {
    fault.explanation = std::move(explanation);
    fault.advice = std::move(advice);
    return true;
  };
  switch (fault.kind) {
    case FaultKind::server_starting: return say("the API server is still starting");
    case FaultKind::server_stopping: return say("this API server is shutting down");
    case FaultKind::server_unavailable:
      return say(
          fmt::format("the API server is not available (HTTP {}){}{}", fault.http, tail.empty() ? "" : ": ", tail));
    case FaultKind::server_error:
      return say(fmt::format("the API server failed (HTTP {}){}{}", fault.http, tail.empty() ? "" : ": ", tail));
    case FaultKind::too_many_requests: return say("the API server accepts no more requests for now");
    case FaultKind::request_timeout:
      return say("the API server did not finish the request in time; it is not known whether it took effect");
    case FaultKind::version_ahead: return say("this API server has not seen that resourceVersion yet");
    case FaultKind::storage_unavailable: return say(fmt::format("the API server's storage is not available: {}", tail));
    case FaultKind::storage_full:
      return say("the API server's storage is full", "compact and defragment etcd, then disarm its NOSPACE alarm");
    case FaultKind::expired: return say("the resourceVersion is too old; the list or watch has to start again");
    default: return false;
  }
}

void explain_request(Fault& fault, std::string_view method, const RequestPath& path, const std::string& tail) {
  auto say = [&](std::string explanation, std::string advice = {}) {
    fault.explanation = std::move(explanation);
    fault.advice = std::move(advice);
  };
  switch (fault.kind) {
    case FaultKind::unauthorized: return say("the API server does not accept these credentials", "kubectl auth whoami");
    case FaultKind::forbidden:
      if (path.resource.empty()) return say(tail, "kubectl auth can-i --list");
      return say(tail, fmt::format("kubectl auth can-i {} {}{}{}", verb_of(method, path), path.resource,
                                   path.group.empty() ? "" : fmt::format(".{}", path.group), in_namespace(path)));
    case FaultKind::policy_denied:
    case FaultKind::policy_unconfigured: {
      bool validating = fault.message.contains("ValidatingAdmissionPolicy '");
      return say(tail, fmt::format("kubectl get {}admissionpolicy {} -o yaml", validating ? "validating" : "mutating",
                                   fault.subject));
    }
    case FaultKind::pod_security:
      return say(tail,
                 path.ns.empty() ? std::string() : fmt::format("kubectl get namespace {} --show-labels", path.ns));
    case FaultKind::not_found: return say(fmt::format("{} does not exist", what_is_asked(path)));
    case FaultKind::already_exists: return say(fmt::format("{} already exists", what_is_asked(path)));
    case FaultKind::field_conflict:
      return say(fmt::format("other field managers own fields of {}: {}", what_is_asked(path), tail),
                 "take the fields over with --force-conflicts, or remove them from the manifest");
    case FaultKind::conflict:
      return say(fmt::format("{} does not meet the preconditions of the request: {}", what_is_asked(path), tail));
    case FaultKind::immutable_field:
      return say(
          fmt::format("{} of {} cannot be changed: {}", fields_of(fault), what_is_asked(path), why_immutable(fault)),
          fmt::format("keep the field as it is; or set the annotation fairlead.dev/on-immutable: recreate, and "
                      "apply deletes the object{} and creates it again",
                      what_goes_with_it(path)));
    case FaultKind::schema:
      return say(fmt::format("{} does not match its schema: {}", what_is_asked(path), tail),
                 tail.contains("illegal base64 data")
                     ? "encode the values with base64; a Secret also takes plain ones, "
                       "under stringData"
                     : "");
    case FaultKind::too_large: return say(fmt::format("{} is too large: {}", what_is_asked(path), tail));
    case FaultKind::unexpected:
      return say(fmt::format("the answer (HTTP {}) is not one of a Kubernetes API server{}{}", fault.http,
                             tail.empty() ? "" : ": ", tail),
                 "check the server address in the kubeconfig");
    default: return say(tail.empty() ? fmt::format("the API server answered HTTP {}", fault.http) : tail);
  }
}

}  // namespace

void explain(Fault& fault, std::string_view method, const RequestPath& path, std::string_view tail_text) {
  std::string tail = plain_text(tail_text, kMaxTail);
  if (explain_webhook(fault, path, tail) || explain_wait(fault, path, tail) || explain_server(fault, tail)) return;
  explain_request(fault, method, path, tail);
}

Error as_error(const Fault& fault) {
  ErrorKind kind = ErrorKind::invalid;
  switch (fault.kind) {
    case FaultKind::unauthorized:
    case FaultKind::forbidden:
    case FaultKind::refused:
    case FaultKind::webhook_denied:
    case FaultKind::policy_denied:
    case FaultKind::policy_unconfigured:
    case FaultKind::pod_security: kind = ErrorKind::denied; break;
    case FaultKind::not_found:
    case FaultKind::not_served:
    case FaultKind::namespace_missing: kind = ErrorKind::not_found; break;
    case FaultKind::webhook_untrusted:
    case FaultKind::webhook_wrong_certificate: kind = ErrorKind::untrusted; break;
    case FaultKind::webhook_timeout:
    case FaultKind::request_timeout: kind = ErrorKind::timeout; break;
    case FaultKind::unexpected: kind = ErrorKind::protocol; break;
    default:
      if (fault.disposition != Disposition::permanent) kind = ErrorKind::unavailable;
      break;
  }
  Error error(kind, fault.explanation);
  if (!fault.message.empty() && !fault.explanation.contains(fault.message))
    error = std::move(error).because(fmt::format("the API server answered {}: {}", fault.http, fault.message));
  if (!fault.advice.empty()) error = std::move(error).next(fault.advice);
  return error;
}

}  // namespace fairlead::kube

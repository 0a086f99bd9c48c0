#include "doctor/internal/backends.h"

#include <algorithm>

#include "admission/client_config.h"
#include "admission/own.h"
#include "doctor/internal/texts.h"
#include "object/condition.h"
#include "object/definition.h"
#include "object/selector.h"
#include "readiness/why.h"

namespace fairlead::doctor {
namespace {

constexpr std::string_view kConfigurations[] = {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"};

void add_webhooks(std::vector<Backend>& backends, const Json& configuration) {
  if (admission::is_of_fairlead(configuration)) return;
  for (admission::Webhook& webhook : admission::read_webhooks(configuration))
    backends.push_back({.role = Backend::Role::webhook,
                        .owner = &configuration,
                        .text = text_of(webhook),
                        .service = std::move(webhook.service),
                        .url = std::move(webhook.url),
                        .ca_bundle = std::move(webhook.ca_bundle),
                        .is_required = webhook.failure_policy == admission::FailurePolicy::fail});
}

void add_conversion(std::vector<Backend>& backends, const Json& definition) {
  const Json& client = object::Definition(definition).conversion_client();
  if (client.is_null()) return;
  backends.push_back({.role = Backend::Role::conversion,
                      .owner = &definition,
                      .text = fmt::format("the conversion webhook of {}", name_of(definition)),
                      .service = admission::read_service(client["service"]),
                      .url = std::string(client["url"].string_or("")),
                      .ca_bundle = std::string(client["caBundle"].string_or(""))});
}

void add_api_service(std::vector<Backend>& backends, const Json& api_service) {
  const Json& spec = api_service["spec"];
  if (!spec["service"].is_object()) return;
  backends.push_back({.role = Backend::Role::api_service,
                      .owner = &api_service,
                      .text = fmt::format("APIService {}", name_of(api_service)),
                      .service = admission::read_service(spec["service"]),
                      .url = {},
                      .ca_bundle = std::string(spec["caBundle"].string_or("")),
                      .insecure = spec["insecureSkipTLSVerify"].bool_or(false)});
}

bool has_port(const Json& service, int port) {
  return std::ranges::any_of(service["spec"]["ports"].items(),
                             [&](const Json& one) { return one["port"].int_or(0) == port; });
}

// The newest time at which one of the pods stopped being ready.
std::string unready_since(const std::vector<const Json*>& pods) {
  std::string_view newest;
  for (const Json* pod : pods) {
    const Json& ready = object::condition(*pod, "Ready");
    if (object::has_status(ready, "False")) newest = std::max(newest, ready["lastTransitionTime"].string_or(""));
  }
  return std::string(newest);
}

// When the endpoints of a Service last changed, which is when the last of them was removed if there are none.
std::string emptied_since(const readiness::Objects& slices, const Json& service) {
  std::string_view newest;
  for (const Json* slice : slices)
    if ((*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("") == name_of(service))
      newest = std::max(
          newest,
          (*slice)["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"].string_or(""));
  return std::string(newest);
}

Outage without_endpoints(const Snapshot& snapshot, const Json& service, const readiness::Objects& slices) {
  std::vector<const Json*> pods = pods_behind(snapshot, service);
  readiness::Why why = readiness::why_no_endpoints(service, slices, pods);
  Outage outage{.kind = Outage::Kind::no_endpoints,
                .causes = std::move(why.causes),
                .next = std::move(why.next),
                .related = {key_of(service)},
                .since = pods.empty() ? emptied_since(slices, service) : unready_since(pods)};
  for (const Json* workload : workloads_behind(snapshot, service)) {
    outage.related.push_back(key_of(*workload));
    if (pods.empty() && (*workload)["spec"]["replicas"].int_or(1) == 0) {
      outage.causes.push_back(fmt::format("{} is scaled to 0 replicas", key_of(*workload).text()));
      outage.next = fmt::format("kubectl -n {} scale {}/{} --replicas=2", namespace_of(*workload),
                                (*workload)["kind"].string_or("") == "StatefulSet" ? "statefulset" : "deployment",
                                name_of(*workload));
    }
  }
  return outage;
}

}  // namespace

std::string Backend::host() const { return service ? fmt::format("{}.{}.svc", service->name, service->ns) : ""; }

std::string text_of(const admission::Webhook& webhook) {
  return fmt::format("webhook {} ({} {})", webhook.name, key_of(webhook).kind, webhook.configuration);
}

object::Key key_of(const admission::Webhook& webhook) {
  bool is_validating = webhook.kind == admission::Webhook::Kind::validating;
  return {.group = "admissionregistration.k8s.io",
          .kind = is_validating ? "ValidatingWebhookConfiguration" : "MutatingWebhookConfiguration",
          .ns = {},
          .name = webhook.configuration};
}

std::vector<admission::Webhook> webhooks_of(const Snapshot& snapshot) {
  std::vector<admission::Webhook> all;
  for (std::string_view kind : kConfigurations)
    for (const Json& configuration : snapshot.all(kind)) {
      if (admission::is_of_fairlead(configuration)) continue;
      for (admission::Webhook& webhook : admission::read_webhooks(configuration)) all.push_back(std::move(webhook));
    }
  return all;
}

std::vector<Backend> backends_of(const Snapshot& snapshot) {
  std::vector<Backend> backends;
  for (std::string_view kind : kConfigurations)
    for (const Json& configuration : snapshot.all(kind)) add_webhooks(backends, configuration);
  for (const Json& definition : snapshot.all("CustomResourceDefinition")) add_conversion(backends, definition);
  for (const Json& api_service : snapshot.all("APIService")) add_api_service(backends, api_service);
  return backends;
}

std::optional<Outage> outage_of(const Snapshot& snapshot, const admission::ServiceReference& reference) {
  std::string whole = fmt::format("{}/{}", reference.ns, reference.name);
  object::Key key{.group = "", .kind = "Service", .ns = reference.ns, .name = reference.name};
  if (snapshot.sees_all("Namespace") && !snapshot.find("Namespace", "", reference.ns))
    return Outage{.kind = Outage::Kind::no_namespace,
                  .causes = {fmt::format("namespace {}, where its service {} should be, does not exist", reference.ns,
                                         reference.name)},
                  .next = {},
                  .related = {key}};
  const Json* service = snapshot.find("Service", reference.ns, reference.name);
  if (!service && !snapshot.sees_all("Service")) return std::nullopt;
  if (!service)
    return Outage{.kind = Outage::Kind::no_service,
                  .causes = {fmt::format("service {} does not exist", whole)},
                  .next = fmt::format("kubectl -n {} get services", reference.ns),
                  .related = {key}};
  if (!has_port(*service, reference.port))
    return Outage{.kind = Outage::Kind::no_port,
                  .causes = {fmt::format("service {} has no port {}", whole, reference.port)},
                  .next = get_command(key),
                  .related = {key}};
  if ((*service)["spec"]["type"].string_or("") == "ExternalName") return std::nullopt;
  readiness::Objects slices = snapshot.in_namespace("EndpointSlice", reference.ns);
  if (!snapshot.sees_all("EndpointSlice") && slices.empty()) return std::nullopt;
  if (readiness::count_endpoints(*service, slices).ready > 0) return std::nullopt;
  return without_endpoints(snapshot, *service, slices);
}

std::vector<const Json*> pods_behind(const Snapshot& snapshot, const Json& service) {
  std::vector<const Json*> found;
  // Reads the selector once, where readiness::belongs() would for each of thousands of pods.
  Result<object::Selector> selector = object::Selector::from_service(service["spec"]["selector"]);
  if (!selector || selector->matches_nothing()) return found;
  for (const Json* pod : snapshot.in_namespace("Pod", namespace_of(service)))
    if (selector->matches((*pod)["metadata"]["labels"])) found.push_back(pod);
  return found;
}

std::vector<const Json*> workloads_behind(const Snapshot& snapshot, const Json& service) {
  std::vector<const Json*> found;
  Result<object::Selector> selector = object::Selector::from_service(service["spec"]["selector"]);
  if (!selector || selector->matches_nothing()) return found;
  for (std::string_view kind : kWorkloads)
    for (const Json* workload : snapshot.in_namespace(kind, namespace_of(service)))
      if (selector->matches((*workload)["spec"]["template"]["metadata"]["labels"])) found.push_back(workload);
  return found;
}

}  // namespace fairlead::doctor

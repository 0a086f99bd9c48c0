#include "webhook/server/callers.h"

#include <algorithm>
#include <set>

#include "admission/client_config.h"
#include "base/printable.h"

namespace fairlead::webhook {
namespace {

object::Resource admission_resource(std::string kind, std::string plural) {
  return {
      .group = "admissionregistration.k8s.io", .version = "v1", .kind = std::move(kind), .plural = std::move(plural)};
}

void add_caller(std::vector<Caller>& callers, const Json& client_config, const ServiceName& service, const Own& own,
                bool is_named, std::string text) {
  std::optional<admission::ServiceReference> reference = admission::read_service(client_config["service"]);
  if (!reference || reference->ns != service.ns || reference->name != service.name) return;
  bool is_path = std::ranges::find(own.paths, reference->path) != own.paths.end();
  callers.push_back({.configuration = std::move(text),
                     .is_own = own.configurations.empty() ? is_path : is_named,
                     .ca_bundle = std::string(client_config["caBundle"].string_or(""))});
}

}  // namespace

std::vector<Caller> callers_in(const Json& object, const ServiceName& service, const Own& own) {
  std::vector<Caller> callers;
  std::string kind = printable_line(object["kind"].string_or(""));
  std::string name(object["metadata"]["name"].string_or(""));
  std::string text = fmt::format("{} {}", kind, printable_line(name));
  if (kind == "CustomResourceDefinition") {
    // Only those that we convert are asked for.
    add_caller(callers, object["spec"]["conversion"]["webhook"]["clientConfig"], service, own, true, text);
    return callers;
  }
  bool is_named = std::ranges::find(own.configurations, name) != own.configurations.end();
  for (const Json& hook : object["webhooks"].items())
    add_caller(callers, hook["clientConfig"], service, own, is_named,
               fmt::format("{}, webhook {}", text, printable_line(hook["name"].string_or(""))));
  return callers;
}

Callers callers_in(const std::vector<Json>& configurations, const ServiceName& service, const Own& own) {
  Callers callers;
  std::set<std::string_view> existing, calling;
  for (const Json& object : configurations) {
    std::vector<Caller> found = callers_in(object, service, own);
    std::string_view name = object["metadata"]["name"].string_or("");
    existing.insert(name);
    if (std::ranges::any_of(found, &Caller::is_own)) calling.insert(name);
    std::ranges::move(found, std::back_inserter(callers.found));
  }
  for (const std::string& name : own.configurations) {
    if (!existing.contains(name))
      callers.missing.push_back(
          fmt::format("there is no ValidatingWebhookConfiguration or MutatingWebhookConfiguration {}", name));
    else if (!calling.contains(name))
      callers.missing.push_back(
          fmt::format("the webhook configuration {} does not call Service {}/{}", name, service.ns, service.name));
  }
  if (own.configurations.empty() && own.needs_one && calling.empty())
    callers.missing.push_back(fmt::format(
        "no webhook configuration calls one of the paths of this server at Service {}/{}", service.ns, service.name));
  return callers;
}

bool leads_to(const std::vector<Json>& slices, const std::string& address) {
  for (const Json& slice : slices) {
    for (const Json& endpoint : slice["endpoints"].items()) {
      bool is_ours = std::ranges::any_of(endpoint["addresses"].items(),
                                         [&](const Json& each) { return each.string_or("") == address; });
      // Without the condition an endpoint counts as ready.
      if (is_ours && endpoint["conditions"]["ready"].bool_or(true)) return true;
    }
  }
  return false;
}

Task<Result<Callers>> ClusterSurroundings::callers() {
  std::vector<Json> configurations;
  for (const object::Resource& resource :
       {admission_resource("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        admission_resource("MutatingWebhookConfiguration", "mutatingwebhookconfigurations")}) {
    kube::Outcome<kube::List> list = co_await client_.list(resource, {});
    if (!list) co_return fail(list.error().error());
    std::ranges::move(list->items, std::back_inserter(configurations));
  }
  Callers callers = callers_in(configurations, service_, own_);
  static const object::Resource kDefinitions{.group = "apiextensions.k8s.io",
                                             .version = "v1",
                                             .kind = "CustomResourceDefinition",
                                             .plural = "customresourcedefinitions"};
  for (const std::string& name : definitions_) {
    kube::Outcome<kube::Reply> definition = co_await client_.get(kDefinitions, "", name);
    if (!definition && definition.error().is(kube::FaultKind::not_found)) continue;
    if (!definition) co_return fail(definition.error().error());
    std::ranges::move(callers_in(definition->value, service_, own_), std::back_inserter(callers.found));
  }
  co_return callers;
}

Task<Result<bool>> ClusterSurroundings::is_endpoint() {
  if (address_.empty()) co_return false;
  static const object::Resource kSlices{.group = "discovery.k8s.io",
                                        .version = "v1",
                                        .kind = "EndpointSlice",
                                        .plural = "endpointslices",
                                        .namespaced = true};
  kube::Outcome<kube::List> slices = co_await client_.list(
      kSlices, {.ns = service_.ns, .label_selector = "kubernetes.io/service-name=" + service_.name});
  if (!slices) co_return fail(slices.error().error());
  co_return leads_to(slices->items, address_);
}

}  // namespace fairlead::webhook

#include "gate/rules/backend.h"

#include <fmt/format.h>

#include <algorithm>

#include "admission/client_config.h"
#include "base/base64.h"
#include "base/plain_text.h"
#include "base/printable.h"
#include "readiness/endpoints.h"

namespace fairlead::gate {
namespace {

using Kind = Finding::Kind;

// More are not called: the rest is as good or as bad as these.
constexpr size_t kMaxAddresses = 8;
constexpr size_t kMaxText = 300;

std::string service_text(const admission::ServiceReference& service) {
  return printable_line(fmt::format("service {}/{}", service.ns, service.name));
}

Finding failing(std::string cause, std::string next) {
  return {.kind = Kind::failing, .cause = std::move(cause), .next = printable_line(next)};
}

Finding unproved(std::string cause) { return {.kind = Kind::unproved, .cause = std::move(cause)}; }

const Json* port_of(const Json& service, int number) {
  for (const Json& port : service["spec"]["ports"].items())
    if (port["port"].int_or(0) == number) return &port;
  return nullptr;
}

std::vector<Address> addresses_of(const std::vector<readiness::Endpoint>& endpoints) {
  std::vector<Address> addresses;
  for (const readiness::Endpoint& endpoint : endpoints) {
    if (endpoint.port < 1 || endpoint.port > 65535 || addresses.size() == kMaxAddresses) continue;
    addresses.push_back({.host = endpoint.address, .port = static_cast<uint16_t>(endpoint.port)});
  }
  return addresses;
}

// API servers then verify with authorities of their own.
bool trusts_unknown_authorities(const Hook& hook) { return hook.webhook.ca_bundle.empty() && !hook.awaits_injection; }

std::string see_configuration(const Hook& hook) {
  return printable_line(
      fmt::format("kubectl get {} {} -o yaml", hook.configuration_kind(), hook.webhook.configuration));
}

// Why the webhook cannot be trusted yet, or nothing if a call has to tell.
std::optional<Finding> without_certificate(const Hook& hook) {
  const std::string& bundle = hook.webhook.ca_bundle;
  if (admission::has_certificate(bundle) || trusts_unknown_authorities(hook)) return std::nullopt;
  return failing(bundle.empty() ? "its caBundle is not injected yet" : "its caBundle has no certificate in it",
                 see_configuration(hook));
}

Finding no_ready_endpoint(const admission::ServiceReference& service) {
  return failing(
      service_text(service) + " has no ready endpoint",
      fmt::format("kubectl -n {} get endpointslices -l kubernetes.io/service-name={}", service.ns, service.name));
}

// Where nothing listens, it does not matter whom API servers trust.
bool is_failure(const Hook& hook, const CallResult& result) {
  bool is_untrusted = result.kind == CallResult::Kind::untrusted && !trusts_unknown_authorities(hook);
  return result.kind == CallResult::Kind::refused || is_untrusted;
}

}  // namespace

Look look_at(const Hook& hook, const Surroundings& surroundings) {
  Look look;
  if (!hook.webhook.service) {
    look.finding = unproved("it has a url, which API servers may reach where the gate does not");
    return look;
  }
  const admission::ServiceReference& service = *hook.webhook.service;
  if (!surroundings.known) {
    look.finding = Finding();
    return look;
  }
  std::string see_service = fmt::format("kubectl -n {} get service {} -o yaml", service.ns, service.name);
  if (!surroundings.service) {
    look.finding =
        failing(service_text(service) + " does not exist", fmt::format("kubectl -n {} get services", service.ns));
    return look;
  }
  const Json& spec = (*surroundings.service)["spec"];
  if (spec["type"].string_or("") == "ExternalName") {
    look.finding = unproved(service_text(service) + " is of type ExternalName");
    return look;
  }
  const Json* port = port_of(*surroundings.service, service.port);
  if (!port) {
    look.finding = failing(fmt::format("{} has no port {}", service_text(service), service.port), see_service);
    return look;
  }
  std::string_view port_name = (*port)["name"].string_or("");
  std::vector<readiness::Endpoint> endpoints = readiness::ready_endpoints(surroundings.slices, service.name, port_name);
  if (endpoints.empty()) endpoints = readiness::draining_endpoints(surroundings.slices, service.name, port_name);
  look.addresses = addresses_of(endpoints);
  if (look.addresses.empty()) look.finding = no_ready_endpoint(service);
  else look.finding = without_certificate(hook);
  if (std::string_view ip = spec["clusterIP"].string_or(""); !ip.empty() && ip != "None")
    look.cluster_address = Address{.host = std::string(ip), .port = static_cast<uint16_t>(service.port)};
  look.server_name = fmt::format("{}.{}.svc", service.name, service.ns);
  look.ca = from_base64(hook.webhook.ca_bundle).value_or("");
  look.path = service.path;
  return look;
}

Finding judge(const Hook& hook, const Look& look, const std::vector<CallResult>& results, bool has_worked) {
  auto fails_to_answer = [&hook](const CallResult& result) { return is_failure(hook, result); };
  size_t failures = static_cast<size_t>(std::ranges::count_if(results, fails_to_answer));
  bool has_answer =
      std::ranges::any_of(results, [](const CallResult& result) { return result.kind == CallResult::Kind::answered; });
  bool fails = has_worked ? failures == results.size() : failures > 0;
  if (!fails && has_answer) return {.kind = Kind::works};
  // Operators often write the caBundle themselves, a moment later. Public authorities certify no names of Services, so
  // only one that somebody installed where API servers run could make it work as it is.
  bool is_untrusted =
      std::ranges::any_of(results, [](const CallResult& result) { return result.kind == CallResult::Kind::untrusted; });
  if (!fails && is_untrusted && trusts_unknown_authorities(hook))
    return {
        .kind = Kind::doubtful,
        .cause = "it has no caBundle yet, and the gate does not know which authorities API servers trust without one",
        .next = see_configuration(hook)};
  if (!fails) {
    std::string text = results.empty() ? std::string() : plain_text(results.front().text, kMaxText);
    return unproved(fmt::format("the gate got no answer from {}: {}", look.server_name, text));
  }
  const CallResult& first = *std::ranges::find_if(results, fails_to_answer);
  const admission::ServiceReference& service = *hook.webhook.service;
  std::string share = failures == results.size() ? "" : fmt::format(" ({} of {} endpoints)", failures, results.size());
  if (first.kind == CallResult::Kind::refused)
    return failing(fmt::format("{} does not accept connections{}", service_text(service), share),
                   fmt::format("kubectl -n {} describe service {}", service.ns, service.name));
  return failing(fmt::format("the certificate of {} does not verify{}: {}", service_text(service), share,
                             plain_text(first.text, kMaxText)),
                 fmt::format("fairlead wait webhook/{} --timeout 30s", hook.webhook.configuration));
}

}  // namespace fairlead::gate

#include "sandbox/verbs/internal/webhook_call.h"

#include <fmt/format.h>

#include "admission/client_config.h"
#include "async/scope.h"
#include "base/base64.h"
#include "sandbox/core/endpoints.h"
#include "sandbox/core/webhook_caller.h"

namespace fairlead::sandbox {
namespace {

// Where to go; `problem` says why that cannot be.
struct Resolved {
  WebhookEndpoint endpoint;
  std::string problem;
};

Resolved resolve(Core& core, const Json& config) {
  WebhookEndpoint endpoint;
  endpoint.ca_bundle = from_base64(config["caBundle"].string_or("")).value_or("");
  if (std::string_view url = config["url"].string_or(""); !url.empty()) {
    endpoint.url = url;
    std::string_view rest = url.substr(url.find("://") == std::string_view::npos ? 0 : url.find("://") + 3);
    std::string_view host = rest.substr(0, rest.find('/'));
    // An IPv6 address is in brackets.
    size_t behind = host.starts_with('[') ? host.find(']') : 0;
    size_t colon = host.find(':', behind == std::string_view::npos ? 0 : behind);
    endpoint.address = colon == std::string_view::npos ? fmt::format("{}:443", host) : std::string(host);
    endpoint.server_name = host.substr(0, colon);
    if (behind > 0 && behind != std::string_view::npos) endpoint.server_name = host.substr(1, behind - 1);
    std::optional<Backend> pod = backend_at(core, endpoint.address);
    std::string problem;
    if (pod && !pod->listens) problem = fmt::format("dial tcp {}: connect: connection refused", endpoint.address);
    if (pod) endpoint.pod_of = pod->service;
    endpoint.simulated = pod.has_value();
    return {std::move(endpoint), std::move(problem)};
  }
  admission::ServiceReference service =
      admission::read_service(config["service"]).value_or(admission::ServiceReference());
  endpoint.service = service.ns + "/" + service.name;
  endpoint.server_name = fmt::format("{}.{}.svc", service.name, service.ns);
  endpoint.url = admission::service_url(service);
  std::expected<Destination, std::string> destination = backend_of(core, service.ns, service.name, service.port);
  if (!destination) return {std::move(endpoint), destination.error()};
  endpoint.address = destination->address;
  endpoint.simulated = destination->simulated;
  return {std::move(endpoint), ""};
}

std::string timeout_text(Duration timeout) {
  auto whole = std::chrono::ceil<std::chrono::seconds>(timeout).count();
  return fmt::format("{}s", whole);
}

}  // namespace

Task<std::expected<admission::Answer, std::string>> call_webhook(ApiServer& server, Json client_config, Json review,
                                                                 Duration timeout) {
  Core& core = server.core();
  std::string query = fmt::format("?timeout={}", timeout_text(timeout));
  auto [endpoint, problem] = resolve(core, client_config);
  if (!problem.empty()) co_return std::unexpected(fmt::format("Post \"{}{}\": {}", endpoint.url, query, problem));
  http::Request request;
  request.method = "POST";
  size_t path = endpoint.url.find('/', endpoint.url.find("://") + 3);
  request.target = (path == std::string::npos ? "/" : endpoint.url.substr(path)) + query;
  request.headers = {{"Content-Type", "application/json"},
                     {"Accept", "application/json, */*"},
                     {"User-Agent", "kube-apiserver-admission"},
                     {"Host", endpoint.server_name}};
  request.body = review.dump();
  Result<http::Response> response =
      co_await with_deadline(core.loop, core.loop.now() + timeout, "context deadline exceeded",
                             core.webhooks->post(endpoint, std::move(request)));
  if (!response)
    co_return std::unexpected(fmt::format("Post \"{}{}\": {}", endpoint.url, query, response.error().what()));
  std::string type(response->headers.find("Content-Type").value_or("application/json"));
  co_return admission::Answer{response->status, std::move(type), std::move(response->body)};
}

}  // namespace fairlead::sandbox

#include "sandbox/core/webhook_caller.h"

#include <fmt/format.h>

namespace fairlead::sandbox {

void LocalWebhooks::serve(std::string service_or_url, Handler handler, std::string ca_bundle) {
  servers_[std::move(service_or_url)] = {std::move(handler), std::move(ca_bundle)};
}

Task<Result<http::Response>> LocalWebhooks::post(const WebhookEndpoint& endpoint, http::Request request) {
  auto found = servers_.find(endpoint.service.empty() ? endpoint.url : endpoint.service);
  bool by_pod = found == servers_.end() && !endpoint.pod_of.empty();
  if (by_pod) found = servers_.find(endpoint.pod_of);
  if (found == servers_.end())
    co_return fail(ErrorKind::unavailable, "dial tcp {}: connect: connection refused", endpoint.address);
  // A copy: the webhook may stop while it is being asked.
  Server server = found->second;
  // Its certificate is for the name of the Service.
  if (!server.ca_bundle.empty() && by_pod)
    co_return fail(ErrorKind::untrusted,
                   "tls: failed to verify certificate: x509: cannot validate certificate for {} because it doesn't "
                   "contain any IP SANs",
                   endpoint.server_name);
  if (!server.ca_bundle.empty() && endpoint.ca_bundle != server.ca_bundle)
    co_return fail(ErrorKind::untrusted,
                   "tls: failed to verify certificate: x509: certificate signed by unknown authority");
  co_return co_await server.handler(std::move(request));
}

}  // namespace fairlead::sandbox

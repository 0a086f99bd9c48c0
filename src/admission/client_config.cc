#include "admission/client_config.h"

#include <fmt/format.h>

#include "base/base64.h"

namespace fairlead::admission {

std::optional<ServiceReference> read_service(const Json& service) {
  if (!service.is_object()) return std::nullopt;
  int64_t port = service["port"].int_or(443);
  return ServiceReference{.ns = std::string(service["namespace"].string_or("")),
                          .name = std::string(service["name"].string_or("")),
                          .path = std::string(service["path"].string_or("")),
                          .port = port < 1 || port > 65535 ? 443 : static_cast<int>(port)};
}

std::string service_url(const ServiceReference& service) {
  return fmt::format("https://{}.{}.svc:{}{}{}", service.name, service.ns, service.port,
                     service.path.starts_with('/') ? "" : "/", service.path);
}

bool has_certificate(std::string_view ca_bundle) {
  std::optional<std::string> pem = from_base64(ca_bundle);
  return pem && pem->contains("-----BEGIN CERTIFICATE-----");
}

}  // namespace fairlead::admission

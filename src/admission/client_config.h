// How the API server reaches a webhook or an aggregated API: a clientConfig, or the spec of an APIService.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "admission/webhook.h"

namespace fairlead::admission {

// Reads a reference to a Service. Returns nothing if there is none.
std::optional<ServiceReference> read_service(const Json& service);

// Returns the URL at which the API server calls the Service, as its errors name it: "https://svc.ns.svc:443/path".
std::string service_url(const ServiceReference& service);

// True if the caBundle (base64) contains a certificate. Anything else is a placeholder, which somebody still has to
// replace: manifest generators write a line break, because an empty value was once refused.
bool has_certificate(std::string_view ca_bundle);

}  // namespace fairlead::admission

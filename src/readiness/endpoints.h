// The addresses behind a Service. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "readiness/shadow.h"
#include "readiness/why.h"

namespace fairlead::readiness {

// Returns the addresses in the EndpointSlices of a Service that are ready. `port_name` is the name of the port in the
// Service; it is ignored if a slice has only one port.
std::vector<Endpoint> ready_endpoints(const Objects& slices, std::string_view service, std::string_view port_name);

// The same for the endpoints that are being terminated and still serve. kube-proxy uses these if none is ready.
std::vector<Endpoint> draining_endpoints(const Objects& slices, std::string_view service, std::string_view port_name);

}  // namespace fairlead::readiness

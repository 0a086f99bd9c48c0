#include "readiness/endpoints.h"

namespace fairlead::readiness {
namespace {

template <class Counts>
std::vector<Endpoint> endpoints_that(const Objects& slices, std::string_view service, std::string_view port_name,
                                     Counts counts) {
  std::vector<Endpoint> endpoints;
  for (const Json* slice : slices) {
    if ((*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("") != service) continue;
    const Json::Array& ports = (*slice)["ports"].items();
    for (const Json& port : ports) {
      if (ports.size() > 1 && port["name"].string_or("") != port_name) continue;
      for (const Json& endpoint : (*slice)["endpoints"].items())
        if (counts(endpoint["conditions"]))
          for (const Json& address : endpoint["addresses"].items())
            endpoints.push_back(
                {.address = std::string(address.string_or("")), .port = static_cast<int>(port["port"].int_or(0))});
    }
  }
  return endpoints;
}

}  // namespace

// Without a condition an endpoint counts as ready.
std::vector<Endpoint> ready_endpoints(const Objects& slices, std::string_view service, std::string_view port_name) {
  return endpoints_that(slices, service, port_name,
                        [](const Json& conditions) { return conditions["ready"].bool_or(true); });
}

std::vector<Endpoint> draining_endpoints(const Objects& slices, std::string_view service, std::string_view port_name) {
  return endpoints_that(slices, service, port_name, [](const Json& conditions) {
    return conditions["terminating"].bool_or(false) && conditions["serving"].bool_or(false);
  });
}

}  // namespace fairlead::readiness

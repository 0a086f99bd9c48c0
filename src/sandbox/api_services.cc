#include "sandbox/api_services.h"

#include <fmt/format.h>

#include "sandbox/endpoints.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kApiServices{"apiregistration.k8s.io", "apiservices"};

Json condition(const Core& core, std::string_view status, std::string_view reason, std::string message) {
  return Json::Object{{"type", "Available"},
                      {"status", status},
                      {"lastTransitionTime", core.now_text()},
                      {"reason", reason},
                      {"message", std::move(message)}};
}

}  // namespace

std::vector<ServedElsewhere> served_elsewhere(const Core& core) {
  std::vector<ServedElsewhere> list;
  for (const auto& [place, object] : core.store.all(kApiServices)) {
    const Json& spec = (*object)["spec"];
    if (spec["service"].is_null()) continue;
    bool available = false;
    for (const Json& one : (*object)["status"]["conditions"].items())
      if (one["type"].string_or("") == "Available") available = one["status"].string_or("") == "True";
    list.push_back({std::string(spec["group"].string_or("")), std::string(spec["version"].string_or("")), available});
  }
  return list;
}

Json available_condition(const Core& core, const Json& api_service) {
  const Json& service = api_service["spec"]["service"];
  if (service.is_null()) return condition(core, "True", "Local", "Local APIServices are always available");
  std::string_view ns = service["namespace"].string_or(""), name = service["name"].string_or("");
  int64_t port = service["port"].int_or(443);
  ObjectPtr found = core.find("", "services", ns, name);
  if (!found)
    return condition(core, "False", "ServiceNotFound", fmt::format("service/{} in \"{}\" is not present", name, ns));
  std::string port_name;
  bool has_port = false;
  for (const Json& one : (*found)["spec"]["ports"].items()) {
    if (one["port"].int_or(0) != port) continue;
    has_port = true;
    port_name = one["name"].string_or("");
  }
  if (!has_port)
    return condition(core, "False", "ServicePortError",
                     fmt::format("service/{} in \"{}\" is not listening on port {}", name, ns, port));
  bool any = false, ready = false;
  for (const auto& [place, slice] : core.store.all({"discovery.k8s.io", "endpointslices"})) {
    if (place.ns != ns || (*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("") != name) continue;
    any = true;
    for (const Json& endpoint : (*slice)["endpoints"].items())
      ready |= endpoint["conditions"]["ready"].bool_or(true) && !endpoint["addresses"].items().empty();
  }
  if (!any)
    return condition(core, "False", "EndpointsNotFound",
                     fmt::format("cannot find endpointslices for service/{} in \"{}\"", name, ns));
  if (!ready)
    return condition(core, "False", "MissingEndpoints",
                     fmt::format("endpointslices for service/{} in \"{}\" have no addresses with port name \"{}\"",
                                 name, ns, port_name));
  // Nothing in the sandbox serves an API behind a Service.
  return condition(
      core, "False", "FailedDiscoveryCheck",
      fmt::format("failing or missing response from https://{}:{}/apis/{}/{}: Get "
                  "\"https://{}:{}/apis/{}/{}\": dial tcp {}:{}: connect: connection refused",
                  (*found)["spec"]["clusterIP"].string_or(""), port, api_service["spec"]["group"].string_or(""),
                  api_service["spec"]["version"].string_or(""), (*found)["spec"]["clusterIP"].string_or(""), port,
                  api_service["spec"]["group"].string_or(""), api_service["spec"]["version"].string_or(""),
                  (*found)["spec"]["clusterIP"].string_or(""), port));
}

}  // namespace fairlead::sandbox

#include "sandbox/core/endpoints.h"

#include <fmt/format.h>

namespace fairlead::sandbox {
namespace {

struct Ready {
  std::string address;
  std::string uid;  // of the pod; empty if it is none
};

std::vector<Ready> ready_endpoints(const Core& core, std::string_view ns, std::string_view name,
                                   std::string_view port_name) {
  std::vector<Ready> ready;
  for (const auto& [place, slice] : core.store.all({"discovery.k8s.io", "endpointslices"})) {
    if (place.ns != ns || (*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("") != name) continue;
    for (const Json& port : (*slice)["ports"].items()) {
      if (port["name"].string_or("") != port_name) continue;
      for (const Json& endpoint : (*slice)["endpoints"].items()) {
        if (!endpoint["conditions"]["ready"].bool_or(true)) continue;
        for (const Json& address : endpoint["addresses"].items())
          ready.push_back({fmt::format("{}:{}", address.string_or(""), port["port"].int_or(0)),
                           std::string(endpoint["targetRef"]["uid"].string_or(""))});
      }
    }
  }
  return ready;
}

bool listens(const Core& core, std::string_view uid) {
  auto from = core.listening_from.find(uid);
  return from == core.listening_from.end() || from->second <= core.loop.now();
}

}  // namespace

std::optional<Backend> backend_at(const Core& core, std::string_view address) {
  for (const auto& [place, slice] : core.store.all({"discovery.k8s.io", "endpointslices"}))
    for (const Json& endpoint : (*slice)["endpoints"].items())
      for (const Json& ip : endpoint["addresses"].items())
        for (const Json& port : (*slice)["ports"].items()) {
          if (address != fmt::format("{}:{}", ip.string_or(""), port["port"].int_or(0))) continue;
          std::string_view service = (*slice)["metadata"]["labels"]["kubernetes.io/service-name"].string_or("");
          return Backend{.service = fmt::format("{}/{}", place.ns, service),
                         .listens = listens(core, endpoint["targetRef"]["uid"].string_or(""))};
        }
  return std::nullopt;
}

std::expected<Destination, std::string> backend_of(Core& core, std::string_view ns, std::string_view name,
                                                   int64_t port) {
  ObjectPtr service = core.find("", "services", ns, name);
  if (!service) return std::unexpected(fmt::format("service \"{}\" not found", name));
  const Json* found = nullptr;
  for (const Json& one : (*service)["spec"]["ports"].items())
    if (one["port"].int_or(0) == port) found = &one;
  if (!found) return std::unexpected(fmt::format("no service port {} found for service \"{}\"", port, name));
  std::string cluster_address = fmt::format("{}:{}", (*service)["spec"]["clusterIP"].string_or(""), port);
  // A backend outside of the sandbox, for webhooks that are real servers.
  std::string_view outside = (*service)["metadata"]["annotations"]["sandbox.fairlead.dev/backend"].string_or("");
  std::vector<Ready> ready = ready_endpoints(core, ns, name, (*found)["name"].string_or(""));
  if (ready.empty()) {
    if (!outside.empty() && (*service)["spec"]["selector"].members().empty())
      return Destination{.address = std::string(outside), .dialled = std::string(outside)};
    if (core.options.aggregator_routing)
      return std::unexpected(fmt::format("no endpoints available for service \"{}\"", name));
    return std::unexpected(fmt::format("dial tcp {}: connect: connection refused", cluster_address));
  }
  const Ready& chosen = ready[core.random.below(ready.size())];
  const std::string& dialled = core.options.aggregator_routing ? chosen.address : cluster_address;
  if (!listens(core, chosen.uid))
    return std::unexpected(fmt::format("dial tcp {}: connect: connection refused", dialled));
  if (!outside.empty()) return Destination{.address = std::string(outside), .dialled = std::string(outside)};
  // Endpoints that somebody wrote by hand are addresses of something else.
  if (chosen.uid.empty()) return Destination{.address = chosen.address, .dialled = dialled};
  return Destination{.address = dialled, .dialled = dialled, .simulated = true};
}

}  // namespace fairlead::sandbox

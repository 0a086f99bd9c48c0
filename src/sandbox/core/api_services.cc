#include "sandbox/core/api_services.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "sandbox/core/endpoints.h"

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

constexpr std::string_view kManaged = "kube-aggregator.kubernetes.io/automanaged";

void put_local(Core& core, std::string_view group, std::string_view version, int64_t group_priority,
               int64_t version_priority, std::string_view managed) {
  std::string name = fmt::format("{}.{}", version, group);
  if (core.store.find(kApiServices, {"", name})) return;
  Json::Object spec;
  if (!group.empty()) spec.append("group", group);
  spec.append("version", version);
  spec.append("groupPriorityMinimum", group_priority);
  spec.append("versionPriority", version_priority);
  Json object = Json::Object{{"apiVersion", "apiregistration.k8s.io/v1"},
                             {"kind", "APIService"},
                             {"metadata", Json::Object{{"name", name},
                                                       {"uid", core.random.uid()},
                                                       {"creationTimestamp", core.now_text()},
                                                       {"labels", Json::Object{{std::string(kManaged), managed}}}}},
                             {"spec", std::move(spec)}};
  object.make("status").make("conditions") = Json::Array{available_condition(core, object)};
  core.store.put(kApiServices, {"", name}, std::move(object));
}

// Which group answers for a kind of the same name: the higher one.
int64_t group_priority(std::string_view group) {
  static const std::map<std::string_view, int64_t> kPriorities = {{"", 18000},
                                                                  {"apps", 17800},
                                                                  {"events.k8s.io", 17750},
                                                                  {"authentication.k8s.io", 17700},
                                                                  {"authorization.k8s.io", 17600},
                                                                  {"autoscaling", 17500},
                                                                  {"batch", 17400},
                                                                  {"certificates.k8s.io", 17300},
                                                                  {"networking.k8s.io", 17200},
                                                                  {"policy", 17100},
                                                                  {"rbac.authorization.k8s.io", 17000},
                                                                  {"storage.k8s.io", 16800},
                                                                  {"admissionregistration.k8s.io", 16700},
                                                                  {"apiextensions.k8s.io", 16700},
                                                                  {"scheduling.k8s.io", 16600},
                                                                  {"coordination.k8s.io", 16500},
                                                                  {"node.k8s.io", 16300},
                                                                  {"discovery.k8s.io", 16200},
                                                                  {"resource.k8s.io", 16200},
                                                                  {"flowcontrol.apiserver.k8s.io", 16100}};
  auto found = kPriorities.find(group);
  return found == kPriorities.end() ? 0 : found->second;
}

int64_t version_priority(std::string_view group, std::string_view version) {
  if (group.empty()) return 1;
  if (group == "resource.k8s.io" || group == "flowcontrol.apiserver.k8s.io") return 21;
  return version == "v2" ? 30 : 15;
}

ServedElsewhere read(const Json& api_service) {
  const Json& spec = api_service["spec"];
  ServedElsewhere api{.group = std::string(spec["group"].string_or("")),
                      .version = std::string(spec["version"].string_or("")),
                      .service_namespace = std::string(spec["service"]["namespace"].string_or("")),
                      .service_name = std::string(spec["service"]["name"].string_or("")),
                      .port = spec["service"]["port"].int_or(443)};
  for (const Json& one : api_service["status"]["conditions"].items())
    if (one["type"].string_or("") == "Available") api.available = one["status"].string_or("") == "True";
  return api;
}

// In plain text, as the aggregator says it.
Status unavailable(std::string text) { return {503, "", std::move(text), {}, true}; }

}  // namespace

void register_builtin(Core& core) {
  for (const Kind* kind : core.kinds.in_order())
    if (int64_t priority = group_priority(kind->group); priority > 0 && !kind->custom)
      put_local(core, kind->group, kind->version, priority, version_priority(kind->group, kind->version), "onstart");
}

void register_custom(Core& core, std::string_view group) {
  std::set<std::string> served;
  for (const Kind* kind : core.kinds.in_order())
    if (kind->custom && kind->group == group) served.insert(kind->version);
  std::vector<Place> gone;
  for (const auto& [place, object] : core.store.all(kApiServices)) {
    const Json& spec = (*object)["spec"];
    if (spec["group"].string_or("") == group && !served.contains(std::string(spec["version"].string_or(""))) &&
        (*object)["metadata"]["labels"][kManaged].string_or("") == "true")
      gone.push_back(place);
  }
  for (const Place& place : gone) core.store.remove(kApiServices, place);
  for (const std::string& version : served) put_local(core, group, version, 1000, 100, "true");
}

std::vector<ServedElsewhere> served_elsewhere(const Core& core) {
  std::vector<ServedElsewhere> list;
  for (const auto& [place, object] : core.store.all(kApiServices))
    if (!(*object)["spec"]["service"].is_null()) list.push_back(read(*object));
  return list;
}

std::expected<http::Transport*, std::string> server_behind(Core& core, const ServedElsewhere& api) {
  std::expected<Destination, std::string> destination =
      backend_of(core, api.service_namespace, api.service_name, api.port);
  if (!destination) return std::unexpected(destination.error());
  auto found = core.extension_servers.find(fmt::format("{}/{}", api.service_namespace, api.service_name));
  if (found == core.extension_servers.end())
    return std::unexpected(fmt::format("dial tcp {}: connect: connection refused", destination->dialled));
  return found->second;
}

Task<Outcome<Reply>> pass_on(Core& core, ServedElsewhere api, const Call& call) {
  if (!api.available) co_return refuse(unavailable("service unavailable\n"));
  std::expected<http::Transport*, std::string> server = server_behind(core, api);
  if (!server) co_return refuse(unavailable(fmt::format("error trying to reach service: {}\n", server.error())));
  http::Request request{.method = call.method, .target = call.target, .headers = {}};
  request.headers = {{"Accept", call.accept}, {"Content-Type", call.content_type}, {"User-Agent", call.user_agent}};
  const std::string* text = std::get_if<std::string>(&call.body);
  request.body = text ? *text : std::get<Json>(call.body).dump();
  Result<http::Answer> answer = co_await (*server)->open(std::move(request));
  if (!answer) co_return refuse(unavailable(fmt::format("error trying to reach service: {}\n", answer.error().what())));
  Reply reply;
  reply.status = answer->status;
  reply.content_type = answer->headers.find("Content-Type").value_or("");
  for (const auto& [name, value] : answer->headers)
    if (!http::same_name(name, "Content-Type")) reply.headers.add(name, value);
  reply.stream = std::move(answer->body);
  co_return reply;
}

Task<void> discover_behind(Core& core, ServedElsewhere api) {
  std::expected<http::Transport*, std::string> server = server_behind(core, api);
  if (!server) co_return;
  http::Request request{.target = "/apis", .headers = {}};
  request.headers = {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}};
  Result<http::Response> response = co_await http::send(**server, std::move(request));
  Result<Json> list = response ? Json::parse(response->body) : Result<Json>(fail(response.error()));
  if (!list) co_return;
  for (const Json& group : (*list)["items"].items())
    for (const Json& version : group["versions"].items())
      if (group["metadata"]["name"].string_or("") == api.group && version["version"].string_or("") == api.version)
        core.extension_resources[api.group_version()] = version["resources"];
}

Json available_condition(Core& core, const Json& api_service) {
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
  ServedElsewhere api = read(api_service);
  std::expected<http::Transport*, std::string> server = server_behind(core, api);
  if (server) return condition(core, "True", "Passed", "all checks passed");
  std::string url =
      fmt::format("https://{}:{}/apis/{}", (*found)["spec"]["clusterIP"].string_or(""), port, api.group_version());
  return condition(core, "False", "FailedDiscoveryCheck",
                   fmt::format("failing or missing response from {}: Get \"{}\": {}", url, url, server.error()));
}

}  // namespace fairlead::sandbox

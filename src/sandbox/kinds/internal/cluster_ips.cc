#include "sandbox/kinds/internal/cluster_ips.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <array>
#include <set>

namespace fairlead::sandbox {
namespace {

const ResourceId kServices{"", "services"};

std::set<std::string> taken_addresses(const Core& core, const Json& but) {
  std::set<std::string> taken;
  for (const auto& [place, service] : core.store.all(kServices)) {
    if ((*service)["metadata"]["uid"] == but["metadata"]["uid"]) continue;
    taken.emplace((*service)["spec"]["clusterIP"].string_or(""));
  }
  return taken;
}

// 10.96.0.0/16, without the first 256: static addresses are usually there.
std::string free_address(Core& core, const Json& object) {
  std::set<std::string> taken = taken_addresses(core, object);
  for (;;) {
    uint64_t host = 256 + core.random.below(65536 - 512);
    std::string address = fmt::format("10.96.{}.{}", host / 256, host % 256);
    if (!taken.contains(address)) return address;
  }
}

bool has_cluster_ip(const Json& object) { return object["spec"]["type"].string_or("ClusterIP") != "ExternalName"; }

void give_addresses(Core& core, Json& object) {
  Json& spec = object.make("spec");
  if (!has_cluster_ip(object)) return;
  std::string address(spec["clusterIP"].string_or(""));
  if (address.empty()) address = free_address(core, object);
  spec.make("clusterIP") = address;
  spec.make("clusterIPs") = Json::Array{address};
  if (!spec.contains("ipFamilies")) spec.make("ipFamilies") = Json::Array{"IPv4"};
  if (!spec.contains("ipFamilyPolicy")) spec.make("ipFamilyPolicy") = "SingleStack";
}

void give_node_ports(Core& core, Json& object) {
  std::string_view type = object["spec"]["type"].string_or("");
  if (type != "NodePort" && type != "LoadBalancer") return;
  if (type == "LoadBalancer" && !object["spec"]["allocateLoadBalancerNodePorts"].bool_or(true)) return;
  std::set<int64_t> taken;
  for (const auto& [place, service] : core.store.all(kServices))
    for (const Json& port : (*service)["spec"]["ports"].items()) taken.insert(port["nodePort"].int_or(0));
  Json::Array ports = object["spec"]["ports"].items();
  for (Json& port : ports) {
    if (port["nodePort"].int_or(0) != 0) continue;
    int64_t number = 30000 + int64_t(core.random.below(2768));
    while (taken.contains(number)) number = 30000 + int64_t(core.random.below(2768));
    taken.insert(number);
    port.make("nodePort") = number;
  }
  object.make("spec").make("ports") = std::move(ports);
}

}  // namespace

void create_service(Core& core, Json& object) {
  give_addresses(core, object);
  give_node_ports(core, object);
}

void update_service(Core& core, const Json& live, Json& object) {
  Json& spec = object.make("spec");
  // An update that does not say keeps what there is.
  if (has_cluster_ip(object) && has_cluster_ip(live)) {
    for (std::string_view kept : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"})
      if (!spec.contains(kept) && live["spec"].contains(kept)) spec.make(kept) = live["spec"][kept];
  }
  std::map<std::pair<int64_t, std::string>, int64_t> node_ports;
  for (const Json& port : live["spec"]["ports"].items())
    node_ports[{port["port"].int_or(0), std::string(port["protocol"].string_or(""))}] = port["nodePort"].int_or(0);
  std::string_view type = spec["type"].string_or("");
  if (type == "NodePort" || type == "LoadBalancer") {
    Json::Array ports = spec["ports"].items();
    for (Json& port : ports) {
      int64_t known = node_ports[{port["port"].int_or(0), std::string(port["protocol"].string_or(""))}];
      if (port["nodePort"].int_or(0) == 0 && known != 0) port.make("nodePort") = known;
    }
    spec.make("ports") = std::move(ports);
  }
  give_addresses(core, object);
  give_node_ports(core, object);
}

namespace {

bool is_address(std::string_view text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  std::string ended(text);
  return inet_pton(AF_INET, ended.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, ended.c_str(), bytes.data()) == 1;
}

}  // namespace

void validate_service(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes) {
  const Json& spec = object["spec"];
  std::string_view address = spec["clusterIP"].string_or("");
  if (!live && !address.empty() && address != "None" && taken_addresses(core, object).contains(std::string(address)))
    causes.push_back(invalid_value("spec.clusterIPs", Json(Json::Array{address}),
                                   fmt::format("failed to allocate IP {}: provided IP is already allocated", address)));
  if (live && has_cluster_ip(*live) && has_cluster_ip(object) &&
      !spec["clusterIP"].same_as((*live)["spec"]["clusterIP"]))
    causes.push_back(invalid_value("spec.clusterIPs[0]", Json(Json::Array{address}), "may not change once set"));
  if (!address.empty() && address != "None" && !is_address(address))
    causes.push_back(invalid_value("spec.clusterIPs[0]", Json(address),
                                   "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
  if (spec["type"].string_or("") == "ExternalName" && spec["externalName"].string_or("").empty())
    causes.push_back(required("spec.externalName", ""));
  if (spec["ports"].items().empty() && has_cluster_ip(object) && address != "None")
    causes.push_back(required("spec.ports", ""));
  size_t index = 0;
  std::set<std::string_view> names;
  for (const Json& port : spec["ports"].items()) {
    std::string at = fmt::format("spec.ports[{}]", index++);
    int64_t number = port["port"].int_or(0);
    if (number < 1 || number > 65535)
      causes.push_back(invalid_value(at + ".port", Json(number), "must be between 1 and 65535, inclusive"));
    if (const int64_t* target = port["targetPort"].if_int64(); target && (*target < 1 || *target > 65535))
      causes.push_back(invalid_value(at + ".targetPort", Json(*target), "must be between 1 and 65535, inclusive"));
    if (spec["ports"].items().size() > 1 && port["name"].string_or("").empty())
      causes.push_back(required(at + ".name", ""));
    if (!names.insert(port["name"].string_or("")).second && !port["name"].string_or("").empty())
      causes.push_back(duplicate_value(at + ".name", port["name"]));
  }
}

}  // namespace fairlead::sandbox

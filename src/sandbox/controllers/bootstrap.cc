#include "sandbox/controllers/bootstrap.h"

#include <fmt/format.h>

#include "sandbox/core/api_services.h"

namespace fairlead::sandbox {
namespace {

void put(Core& core, const ResourceId& resource, std::string ns, Json object) {
  Json& metadata = object.make("metadata");
  std::string name(metadata["name"].string_or(""));
  if (!ns.empty()) metadata.make("namespace") = ns;
  metadata.make("uid") = core.random.uid();
  metadata.make("creationTimestamp") = core.now_text();
  core.store.put(resource, {std::move(ns), std::move(name)}, std::move(object));
}

void put_namespace(Core& core, std::string_view name) {
  put(core, {"", "namespaces"}, "",
      Json::Object{
          {"apiVersion", "v1"},
          {"kind", "Namespace"},
          {"metadata", Json::Object{{"name", name}, {"labels", Json::Object{{"kubernetes.io/metadata.name", name}}}}},
          {"spec", Json::Object{{"finalizers", Json::Array{"kubernetes"}}}},
          {"status", Json::Object{{"phase", "Active"}}}});
}

void put_node(Core& core, size_t index) {
  std::string name = fmt::format("sandbox-{}", index + 1);
  Json::Object amounts{{"cpu", "8"}, {"memory", "32Gi"}, {"pods", "110"}, {"ephemeral-storage", "100Gi"}};
  Json::Array conditions{Json::Object{{"type", "Ready"},
                                      {"status", "True"},
                                      {"lastHeartbeatTime", core.now_text()},
                                      {"lastTransitionTime", core.now_text()},
                                      {"reason", "KubeletReady"},
                                      {"message", "kubelet is posting ready status"}}};
  put(core, {"", "nodes"}, "",
      Json::Object{
          {"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", Json::Object{{"name", name},
                                    {"labels", Json::Object{{"kubernetes.io/hostname", name},
                                                            {"kubernetes.io/os", "linux"},
                                                            {"kubernetes.io/arch", "amd64"}}}}},
          {"spec", Json::Object{{"podCIDR", fmt::format("10.244.{}.0/24", index)}}},
          {"status",
           Json::Object{{"capacity", amounts},
                        {"allocatable", amounts},
                        {"conditions", std::move(conditions)},
                        {"addresses", Json::Array{Json::Object{{"type", "InternalIP"},
                                                               {"address", fmt::format("172.18.0.{}", index + 2)}},
                                                  Json::Object{{"type", "Hostname"}, {"address", name}}}},
                        {"nodeInfo", Json::Object{{"kubeletVersion", schema::builtin_version()},
                                                  {"osImage", "sandbox"},
                                                  {"operatingSystem", "linux"},
                                                  {"architecture", "amd64"}}}}}});
}

void put_kubernetes_service(Core& core) {
  put(core, {"", "services"}, "default",
      Json::Object{
          {"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", Json::Object{{"name", "kubernetes"},
                                    {"labels", Json::Object{{"component", "apiserver"}, {"provider", "kubernetes"}}}}},
          {"spec",
           Json::Object{{"type", "ClusterIP"},
                        {"clusterIP", "10.96.0.1"},
                        {"clusterIPs", Json::Array{"10.96.0.1"}},
                        {"ipFamilies", Json::Array{"IPv4"}},
                        {"ipFamilyPolicy", "SingleStack"},
                        {"sessionAffinity", "None"},
                        {"internalTrafficPolicy", "Cluster"},
                        {"ports", Json::Array{Json::Object{
                                      {"name", "https"}, {"protocol", "TCP"}, {"port", 443}, {"targetPort", 6443}}}}}},
          {"status", Json::Object{{"loadBalancer", Json::Object{}}}}});
  Json::Array endpoints;
  for (size_t i = 0; i < core.options.api_servers; ++i)
    endpoints.push_back(Json::Object{{"addresses", Json::Array{fmt::format("172.18.1.{}", i + 1)}},
                                     {"conditions", Json::Object{{"ready", true}}}});
  put(core, {"discovery.k8s.io", "endpointslices"}, "default",
      Json::Object{{"apiVersion", "discovery.k8s.io/v1"},
                   {"kind", "EndpointSlice"},
                   {"metadata", Json::Object{{"name", "kubernetes"},
                                             {"labels", Json::Object{{"kubernetes.io/service-name", "kubernetes"}}},
                                             {"generation", 1}}},
                   {"addressType", "IPv4"},
                   {"endpoints", std::move(endpoints)},
                   {"ports", Json::Array{Json::Object{{"name", "https"}, {"port", 6443}, {"protocol", "TCP"}}}}});
}

void put_priority(Core& core, std::string_view name, int64_t value) {
  put(core, {"scheduling.k8s.io", "priorityclasses"}, "",
      Json::Object{{"apiVersion", "scheduling.k8s.io/v1"},
                   {"kind", "PriorityClass"},
                   {"metadata", Json::Object{{"name", name}, {"generation", 1}}},
                   {"value", value},
                   {"preemptionPolicy", "PreemptLowerPriority"}});
}

}  // namespace

void bootstrap(Core& core) {
  for (std::string_view name : {"default", "kube-node-lease", "kube-public", "kube-system"}) put_namespace(core, name);
  put_priority(core, "system-cluster-critical", 2000000000);
  put_priority(core, "system-node-critical", 2000001000);
  for (size_t i = 0; i < core.options.nodes; ++i) put_node(core, i);
  put_kubernetes_service(core);
  register_builtin(core);
}

}  // namespace fairlead::sandbox

// Watches the objects that guards and workloads depend on: endpoints, pods, webhook configurations. There is one watch
// per kind and namespace, and it starts when it is first asked for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/scope.h"
#include "kube/discovery.h"
#include "kube/watched.h"
#include "readiness/shadow.h"
#include "readiness/why.h"

namespace fairlead::rollout {

class Evidence {
 public:
  // Called for every change with the kind, and with the namespace and name of the object; for an EndpointSlice, the
  // name is that of its Service. Both are empty when a watch has listed everything, or has failed.
  using Changed = std::function<void(std::string_view kind, const std::string& ns, const std::string& name)>;

  // The watches run in the scope.
  Evidence(kube::Client& client, kube::Discovery& discovery, Scope& scope, Changed changed)
      : client_(client), discovery_(discovery), scope_(scope), changed_(std::move(changed)) {}

  void watch_endpoints(const std::string& ns) { watch("discovery.k8s.io", "EndpointSlice", ns); }
  // Watches pods, and the Events about volumes that kubelets cannot mount.
  void watch_pods(const std::string& ns) {
    watch("", "Pod", ns);
    watch("", "Event", ns, "reason=FailedMount");
  }
  // For cluster-scoped kinds such as ValidatingWebhookConfiguration and CustomResourceDefinition.
  void watch_cluster_wide(std::string_view group, std::string_view kind) { watch(group, kind, ""); }

  // True if the kind is watched there, and the watch has not failed.
  bool learns(std::string_view kind, const std::string& ns) const;
  // True if all objects of that kind there are known: the watch has listed them and has not failed.
  bool knows(std::string_view kind, const std::string& ns) const;
  // Returns why the watch failed; null if it did not fail, or if there is none.
  const Error* trouble(std::string_view kind, const std::string& ns) const;
  // Returns the object as it is now; null if it does not exist or is not known.
  const Json* find(std::string_view kind, const std::string& ns, const std::string& name) const;

  // Returns nothing while the endpoints are not known: they are not watched yet, or may not be read.
  std::optional<readiness::EndpointCount> endpoints(const std::string& ns, const std::string& service) const;
  // `port_name` is the name of the port in the Service; it is ignored if an EndpointSlice has only one port.
  std::vector<readiness::Endpoint> ready_endpoints(const std::string& ns, const std::string& service,
                                                   std::string_view port_name) const;
  readiness::Objects pods(const std::string& ns) const { return all("Pod", ns); }
  readiness::Objects mount_failures(const std::string& ns) const { return all("Event", ns); }
  readiness::Objects slices(const std::string& ns) const { return all("EndpointSlice", ns); }

 private:
  struct Source {
    std::unique_ptr<kube::Watched> watched;
  };
  // Kind and namespace.
  using Key = std::pair<std::string, std::string>;

  void watch(std::string_view group, std::string_view kind, const std::string& ns, std::string field_selector = {});
  const kube::Watched* source(std::string_view kind, const std::string& ns) const;
  readiness::Objects all(std::string_view kind, const std::string& ns) const;

  kube::Client& client_;
  kube::Discovery& discovery_;
  Scope& scope_;
  Changed changed_;
  std::map<Key, Source> sources_;
};

}  // namespace fairlead::rollout

// What the cluster shows of what guards and workloads stand on: endpoints, pods, webhook configurations. From watches,
// one a kind and namespace, started when somebody first asks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/scope.h"
#include "kube/discovery.h"
#include "kube/watched.h"
#include "readiness/shadow.h"
#include "readiness/why.h"

namespace fairlead::rollout {

class Evidence {
 public:
  // Told of every change: the kind, and the object's namespace and name (of an EndpointSlice, its Service's).
  using Changed = std::function<void(std::string_view kind, const std::string& ns, const std::string& name)>;

  // The watches run in the scope.
  Evidence(kube::Client& client, kube::Discovery& discovery, Scope& scope, Changed changed)
      : client_(client), discovery_(discovery), scope_(scope), changed_(std::move(changed)) {}

  void watch_endpoints(const std::string& ns) { watch("discovery.k8s.io", "EndpointSlice", ns); }
  // With what the kubelets say about volumes of pods that they cannot mount.
  void watch_pods(const std::string& ns) {
    watch("", "Pod", ns);
    watch("", "Event", ns, "reason=FailedMount");
  }
  // ValidatingWebhookConfiguration, MutatingWebhookConfiguration, CustomResourceDefinition
  void watch_cluster_wide(std::string_view group, std::string_view kind) { watch(group, kind, ""); }

  // It is watched, and nothing keeps it from becoming known.
  bool learns(std::string_view kind, const std::string& ns) const;
  // Everything of that kind there is known: it is watched, and was listed.
  bool knows(std::string_view kind, const std::string& ns) const;
  // Why it will not become known; null if nothing stands in the way.
  const Error* trouble(std::string_view kind, const std::string& ns) const;
  // The object as it is now; null if it is not there or not known.
  const Json* find(std::string_view kind, const std::string& ns, const std::string& name) const;

  // Nothing while it is not known: not watched yet, or forbidden.
  std::optional<readiness::EndpointCount> endpoints(const std::string& ns, const std::string& service) const;
  // Of the port that has this name in the Service; it does not matter where there is only one.
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

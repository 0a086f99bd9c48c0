// The configurations in a cluster that make API servers call this server, and whether its Service still leads to it.
#pragma once

#include <string>
#include <vector>

#include "async/task.h"
#include "kube/client.h"
#include "webhook/server/readiness.h"

namespace fairlead::webhook {

// Where the server is, as a cluster knows it.
struct ServiceName {
  std::string ns;
  std::string name;

  // What API servers verify: "webhook.team.svc".
  std::string host() const { return name + "." + ns + ".svc"; }
};

// Which configurations are ours. One that is not points to our Service all the same.
struct Own {
  // Names of ValidatingWebhookConfigurations and MutatingWebhookConfigurations, all of which must call the Service. If
  // there are none, those count that call one of the paths.
  std::vector<std::string> configurations;
  std::vector<std::string> paths;
  // Without names: whether there must be at least one.
  bool needs_one = false;
};

// The webhooks in a ValidatingWebhookConfiguration, MutatingWebhookConfiguration or CustomResourceDefinition that call
// the Service. Pure.
std::vector<Caller> callers_in(const Json& object, const ServiceName& service, const Own& own);

// Those in all ValidatingWebhookConfigurations and MutatingWebhookConfigurations of a cluster, and which of our own do
// not call the Service. Pure.
Callers callers_in(const std::vector<Json>& configurations, const ServiceName& service, const Own& own);

// Whether one of the EndpointSlices still has the address as one to send requests to. Pure.
bool leads_to(const std::vector<Json>& slices, const std::string& address);

// What the server asks the cluster about itself.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  virtual Task<Result<Callers>> callers() = 0;
  // Whether the Service still leads here.
  virtual Task<Result<bool>> is_endpoint() = 0;
};

class ClusterSurroundings final : public Surroundings {
 public:
  // The client must outlive it. `definitions` are names of CRDs that this server converts; `address` is the pod's own,
  // or empty if it is not known.
  ClusterSurroundings(kube::Client& client, ServiceName service, Own own, std::vector<std::string> definitions,
                      std::string address)
      : client_(client),
        service_(std::move(service)),
        own_(std::move(own)),
        definitions_(std::move(definitions)),
        address_(std::move(address)) {}

  Task<Result<Callers>> callers() override;
  Task<Result<bool>> is_endpoint() override;

 private:
  kube::Client& client_;
  ServiceName service_;
  Own own_;
  std::vector<std::string> definitions_;
  std::string address_;
};

}  // namespace fairlead::webhook

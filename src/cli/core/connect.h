// From the global flags to a cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/core/globals.h"
#include "journal/journal.h"
#include "kube/config/kubeconfig.h"
#include "kube/connect.h"
#include "kube/discovery.h"

namespace fairlead::cli {

// From this level on, -v shows every request; as with kubectl.
inline constexpr int kShowRequests = 6;

// Reads the kubeconfig that these flags name.
Result<kube::Kubeconfig> read_kubeconfig(const Globals& globals);

// A cluster that a command talks to.
class Cluster {
 public:
  // Reads the kubeconfig; opens no connection yet. Fails if fairlead.yaml does not allow the context. The journal hides
  // the credentials, and must outlive the cluster.
  static Result<std::unique_ptr<Cluster>> connect(RealLoop& loop, const Globals& globals, journal::Journal& journal);
  // The same with a kubeconfig that has been read.
  static Result<std::unique_ptr<Cluster>> connect(RealLoop& loop, const Globals& globals,
                                                  const kube::Kubeconfig& kubeconfig, journal::Journal& journal);

  RealLoop& loop() { return loop_; }
  kube::Client& client() { return connection_->client(); }
  kube::Discovery& discovery() { return discovery_; }
  const std::string& default_namespace() const { return connection_->config().ns; }
  // As the kubeconfig names it; empty if there is none.
  const std::string& context() const { return connection_->config().context; }
  std::string server() const;
  // For people: "context prod", or the server if there is no context.
  std::string text() const;
  // Sent so far.
  uint64_t requests() const;

  // Always, before it is destroyed.
  Task<void> close() { return connection_->close(); }

 private:
  Cluster(RealLoop& loop, std::unique_ptr<kube::Connection> connection)
      : loop_(loop), connection_(std::move(connection)), discovery_(connection_->client()) {}

  RealLoop& loop_;
  std::unique_ptr<kube::Connection> connection_;
  kube::Discovery discovery_;
};

// Where these flags lead, without a connection: "context prod, https://10.0.0.1:6443, namespace shop". Fails as
// Cluster::connect does.
Result<std::string> place_of(const Globals& globals);

// Fails if fairlead.yaml does not allow the context. An empty name is that of a pod.
Result<void> check_context(const Globals& globals, const std::string& context);

// For completion: the names in the user's kubeconfig that --context and --contexts can have; none if it cannot be read.
std::vector<std::string> kubeconfig_names(const std::string& option);

}  // namespace fairlead::cli

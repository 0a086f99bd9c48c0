// The flags of `fairlead webhook serve` about other operators in the cluster, and what comes of them.
#pragma once

#include <memory>
#include <string>

#include "cli/core/flags.h"
#include "webhook/server/coordination.h"
#include "webhook/server/log.h"

namespace fairlead::cli {

struct CoordinationFlags {
  std::string restrict_to;
  std::string lease_name{lease::kNamespaceLock};
  std::string duration = "30s";
  std::string renew_interval = "10s";
};

// `service` is the flag --service: whoever takes a namespace over has to know that API servers call it.
void add_coordination_flags(Command command, CoordinationFlags& flags, Flag service);
// An error is one of usage.
Result<void> check(const CoordinationFlags& flags);

// "dynamo-webhook-7c9f_1f3a…": the pod's name, or the machine's, and a random part.
std::string own_identity();

// Shares the cluster with other operators: holds the Lease of the one namespace that the server serves, or looks at the
// Leases of all.
class Coordinator {
 public:
  virtual ~Coordinator() = default;
  // Requires flags that check() accepts. Both must outlive it.
  static std::unique_ptr<Coordinator> make(kube::Client& client, const CoordinationFlags& flags, webhook::Log& log);

  virtual const webhook::Territory& territory() const = 0;
  // Until it is cancelled, after the server has ended.
  virtual Task<void> run(webhook::AdmissionServer& server, const CancelSource& stop) = 0;
};

}  // namespace fairlead::cli

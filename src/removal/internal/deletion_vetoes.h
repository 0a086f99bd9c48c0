// Finds out which deletions may be refused by webhooks and policies of the cluster.
#pragma once

#include <vector>

#include "admission/webhook.h"
#include "removal/diagnosis/webhook_configurations.h"
#include "removal/order/order.h"
#include "removal/run.h"

namespace fairlead::removal {

class DeletionVetoes {
 public:
  // Reads webhook configurations, unless they were read, and policies, with one LIST per kind. Those that are targets
  // do not count: they are deleted before any object whose deletion depends on the result.
  static Task<DeletionVetoes> find(kube::Client& client, const kube::Discovery& discovery, const Run& run,
                                   WebhookConfigurations& configurations);

  // True if a webhook or policy may refuse the deletion of the target, or if it is not known which ones are asked.
  bool may_refuse(const LiveTarget& target) const;

 private:
  bool everything_ = false;
  std::vector<admission::Webhook> webhooks_;
};

}  // namespace fairlead::removal

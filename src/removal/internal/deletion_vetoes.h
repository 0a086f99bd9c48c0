// Finds out which deletions may be refused by webhooks and policies of the cluster.
#pragma once

#include <vector>

#include "admission/webhook.h"
#include "removal/order/order.h"
#include "removal/run.h"

namespace fairlead::removal {

class DeletionVetoes {
 public:
  // Reads webhook configurations and policies with three LISTs. Those that are targets do not count: they are deleted
  // before any object whose deletion depends on the result.
  static Task<DeletionVetoes> find(kube::Client& client, const kube::Discovery& discovery, const Run& run);

  // True if a webhook or policy may refuse the deletion of the target, or if it is not known which ones are asked.
  bool may_refuse(const LiveTarget& target) const;

 private:
  void take(const object::Resource& resource, const Json& item);

  bool everything_ = false;
  std::vector<admission::Webhook> webhooks_;
};

}  // namespace fairlead::removal

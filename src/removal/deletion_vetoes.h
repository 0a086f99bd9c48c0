// Who may refuse that something goes: webhooks and policies of the cluster that are asked about deletions.
#pragma once

#include <vector>

#include "admission/webhook.h"
#include "removal/order.h"
#include "removal/run.h"

namespace fairlead::removal {

class DeletionVetoes {
 public:
  // Three lists. Those among the targets are gone before anything that they could refuse is told to go by this.
  static Task<DeletionVetoes> find(Run& run);

  // So does everybody as long as it is not known who is asked.
  bool may_refuse(const LiveTarget& target) const;

 private:
  void take(const object::Resource& resource, const Json& item);

  bool everything_ = false;
  std::vector<admission::Webhook> webhooks_;
};

}  // namespace fairlead::removal

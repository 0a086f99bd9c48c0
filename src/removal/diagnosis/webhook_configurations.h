// The webhook configurations of the cluster, as one removal reads them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "admission/webhook.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::removal {

class WebhookConfigurations {
 public:
  // Both must outlive it.
  WebhookConfigurations(kube::Client& client, const kube::Discovery& discovery)
      : client_(client), discovery_(discovery) {}

  // Reads what has not been read yet, with one LIST per kind. Returns false if some of it cannot be read.
  Task<bool> read();
  // What was read, each with its apiVersion and kind.
  const std::vector<Json>& known() const { return known_; }

  // Reads the configuration of a webhook again. Returns true if it is unchanged, or cannot be read; otherwise known()
  // has its current form, or no longer has it.
  //
  // What was read may be minutes old when a webhook is blamed: the run may have deleted it, the garbage collector after
  // its owner, or a user who follows our own advice. Blaming it would then be wrong, so it is checked with one LIST by
  // name, which needs no more rights than read(). A webhook that somebody adds during the run is not noticed; what is
  // said without it is less, but not wrong.
  Task<bool> is_current(const admission::Webhook& webhook);

 private:
  kube::Client& client_;
  const kube::Discovery& discovery_;
  std::set<std::string_view> kinds_read_;
  std::vector<Json> known_;
};

}  // namespace fairlead::removal

// Reads the objects that explain why a deletion makes no progress. Sends a few requests, and only when asked to.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/discovery.h"
#include "removal/diagnosis/stuck.h"
#include "removal/diagnosis/webhook_configurations.h"

namespace fairlead::removal {

class Investigator {
 public:
  // All must outlive it.
  Investigator(kube::Client& client, kube::Discovery& discovery, WebhookConfigurations& configurations)
      : client_(client), discovery_(discovery), configurations_(configurations) {}

  // Collects evidence about the object; `last` is its form as last seen. Leaves out what cannot be read. Fails only if
  // the object itself cannot be read: with not_found if it is deleted.
  Task<kube::Outcome<Evidence>> look(object::Key key, object::Resource resource, Json last);

 private:
  // Returns the first page of a kind; nothing if it cannot be read.
  Task<std::optional<std::vector<Json>>> some(std::string_view group, std::string_view kind, std::string ns,
                                              bool metadata_only);
  Task<std::optional<std::vector<Json>>> some_of(object::Resource resource, std::string ns, bool metadata_only);
  // Returns all Deployments and StatefulSets, without their templates; nothing if some of them cannot be read.
  Task<std::optional<std::vector<Json>>> all_workloads();
  Task<void> find_remaining(Evidence& evidence);
  Task<void> find_guards(Evidence& evidence);
  // Makes sure that the webhook that will be blamed, if any, is still there.
  Task<void> confirm_guards(Evidence& evidence);
  Task<void> find_controller(Evidence& evidence);
  Task<void> add_pods(Evidence& evidence, std::string ns);

  kube::Client& client_;
  kube::Discovery& discovery_;
  WebhookConfigurations& configurations_;
  // Read from the cluster once per run, since many stuck objects have the same cause.
  std::optional<std::vector<Json>> workloads_;
};

}  // namespace fairlead::removal

// Reads what explains an object that does not go: a few requests, and only then.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/discovery.h"
#include "removal/stuck.h"

namespace fairlead::removal {

class Investigator {
 public:
  // Both must outlive it.
  Investigator(kube::Client& client, kube::Discovery& discovery) : client_(client), discovery_(discovery) {}

  // What is known of it so far is `last`. What cannot be read is left out. Fails with what it could not do without:
  // the object itself, and then the error says whether it is gone (not_found).
  Task<kube::Outcome<Evidence>> look(object::Key key, object::Resource resource, Json last);

 private:
  // A page of a kind; nothing where it cannot be read.
  Task<std::optional<std::vector<Json>>> some(std::string_view group, std::string_view kind, std::string ns,
                                              bool metadata_only);
  Task<std::optional<std::vector<Json>>> some_of(object::Resource resource, std::string ns, bool metadata_only);
  Task<void> find_remaining(Evidence& evidence);
  Task<void> find_guards(Evidence& evidence);
  Task<void> find_controller(Evidence& evidence);
  Task<void> add_pods(Evidence& evidence, std::string ns);

  kube::Client& client_;
  kube::Discovery& discovery_;
  // The cluster's, read once a run: many that are stuck have the same reason.
  std::optional<std::vector<Json>> configurations_;
  std::optional<std::vector<Json>> workloads_;
};

}  // namespace fairlead::removal

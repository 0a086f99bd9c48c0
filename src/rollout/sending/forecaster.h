// Finds out what a dry run would do to each object, and keeps only what people will see of it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "inventory/applied.h"
#include "rollout/core/run.h"

namespace fairlead::rollout {

class Forecaster {
 public:
  Forecaster(kube::Client& client, Run& run);

  // Applies the object to the one in the cluster without asking the API server: sends at most a GET. Returns what the
  // API server would answer, as far as that can be known.
  Task<kube::Outcome<kube::Reply>> apply(NodeId node, bool force);
  // Reads the object in the cluster, unless it is known. Returns null if there is none. Run::before() returns the
  // object until one of the functions below was called.
  Task<kube::Outcome<const Json*>> live(NodeId node);

  // Call it with the API server's answer to the apply. Requires that the effect of the apply is known.
  void accepted(NodeId node, const Json& answer);
  // The API server cannot check the object. If it `may_exist`, it is compared with the one in the cluster.
  Task<void> unchecked(NodeId node, std::string why, bool may_exist);
  // The object would be deleted and created again.
  Task<void> replaced(NodeId node, std::string why);
  // Other managers own fields of the object. `answer` is what the API server would store if they were taken over; null
  // if that is not known.
  void conflicting(NodeId node, const kube::Fault& conflict, const Json& answer);
  // The user lacks the permission for the request that the fault answers. Each permission is reported once.
  void forbidden(NodeId node, const kube::Fault& fault);

 private:
  // Records what would happen to the object, which has no forecast yet. `before` is null if there is none.
  Forecast& record(NodeId node, Forecast::Action action, const Json& before, const Json& after);
  // Returns the object after the fields of former managers were taken over and it was applied again.
  Json taken_over(NodeId node, const Json& answer);
  std::expected<Json, schema::Refusal> applied(NodeId node, const Json& live, bool force);
  void look_at_definition(NodeId node, const Json& before, const Json& after);
  void forget(NodeId node);

  kube::Client& client_;
  Run& run_;
  inventory::Types types_;
  bool has_learned_types_ = false;
  diff::Look look_;
  // Objects that were read for a comparison. Run::before() points to them.
  std::map<NodeId, Json> read_;
  std::set<std::string> forbidden_;
};

}  // namespace fairlead::rollout

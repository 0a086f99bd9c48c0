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
  explicit Forecaster(Run& run);

  // Applies the object to the one in the cluster without asking the API server: sends at most a GET. Returns what the
  // API server would answer, as far as that can be known.
  Task<kube::Outcome<kube::Reply>> apply(uint32_t node, bool force);
  // Reads the object in the cluster, unless it is known. Returns null if there is none. Run::before() returns the
  // object until one of the functions below was called.
  Task<kube::Outcome<const Json*>> live(uint32_t node);

  // Call it with the API server's answer to the apply. Requires that the effect of the apply is known.
  void accepted(uint32_t node, const Json& answer);
  // The API server cannot check the object. If it `may_exist`, it is compared with the one in the cluster.
  Task<void> unchecked(uint32_t node, std::string why, bool may_exist);
  // The object would be deleted and created again.
  Task<void> replaced(uint32_t node, std::string why);
  // Other managers own fields of the object. `answer` is what the API server would store if they were taken over; null
  // if that is not known.
  void conflicting(uint32_t node, const kube::Fault& conflict, const Json& answer);
  // The user lacks the permission for the request that the fault answers. Each permission is reported once.
  void forbidden(uint32_t node, const kube::Fault& fault);

 private:
  // Records what would happen to the object, which has no forecast yet. `before` is null if there is none.
  Forecast& record(uint32_t node, Forecast::Action action, const Json& before, const Json& after);
  // Returns the object after the fields of former managers were taken over and it was applied again.
  Json taken_over(uint32_t node, const Json& answer);
  std::expected<Json, schema::Refusal> applied(uint32_t node, const Json& live, bool force);
  void look_at_definition(uint32_t node, const Json& before, const Json& after);
  void forget(uint32_t node);

  Run& run_;
  inventory::Types types_;
  bool has_learned_types_ = false;
  diff::Look look_;
  // Objects that were read for a comparison. run_.live points to them.
  std::map<uint32_t, Json> read_;
  std::set<std::string> forbidden_;
};

}  // namespace fairlead::rollout

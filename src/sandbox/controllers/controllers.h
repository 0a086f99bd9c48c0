// The controllers of a cluster, inside the sandbox: each watches the store and does its part after a delay.
#pragma once

#include <memory>
#include <vector>

#include "sandbox/core/work_queue.h"
#include "sandbox/verbs/actor.h"

namespace fairlead::sandbox {

// One controller. It is told of every change, notes what to look at, and looks at it later, from the loop.
class Controller {
 public:
  Controller(ApiServer& server, Scope& scope, std::string agent = "kube-controller-manager");
  virtual ~Controller() = default;

  virtual void note(const ResourceId& resource, const Event& event) = 0;

 protected:
  // Looks at one thing and does what is to be done; called again after every change that concerns it.
  virtual Task<void> look(Place key) = 0;

  Core& core() { return actor_.core(); }
  const Delays& delays() { return core().options.delays; }
  void add(const Place& key) { queue_.add(key, delays().controller); }
  void add_after(const Place& key, Duration after) { queue_.add(key, after); }

  Actor actor_;

 private:
  friend class Controllers;
  WorkQueue queue_;
};

class Controllers {
 public:
  // Those that the API server itself has (CRDs, APIServices), and, if wanted, those of a controller manager.
  Controllers(ApiServer& server, bool all);
  ~Controllers();

  Task<void> stop();

 private:
  Scope scope_;
  std::vector<std::unique_ptr<Controller>> list_;
};

// A delay that an object's annotations set for itself, `sandbox.fairlead.dev/NAME: 1500ms`; else the one for all.
Duration delay_of(const Json& object, std::string_view name, Duration otherwise);
std::string_view annotation(const Json& object, std::string_view name);

// Each in a file of its own, controller_*.cc.
std::unique_ptr<Controller> make_definition_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_api_service_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_namespace_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_garbage_collector(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_account_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_deployment_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_replica_set_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_stateful_set_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_daemon_set_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_job_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_pod_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_endpoints_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_load_balancer_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_volume_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_budget_controller(ApiServer& server, Scope& scope);
std::unique_ptr<Controller> make_autoscaler_controller(ApiServer& server, Scope& scope);

}  // namespace fairlead::sandbox

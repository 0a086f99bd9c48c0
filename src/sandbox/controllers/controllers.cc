#include "sandbox/controllers/controllers.h"

#include <fmt/format.h>

#include <charconv>

namespace fairlead::sandbox {

Controller::Controller(ApiServer& server, Scope& scope, std::string agent)
    : actor_(server, "system:" + agent, agent),
      queue_(server.core().loop, scope, [this](Place key) { return look(std::move(key)); }) {}

Controllers::Controllers(ApiServer& server, bool all) : scope_(server.core().loop, nullptr) {
  using Make = std::unique_ptr<Controller> (*)(ApiServer&, Scope&);
  for (Make make : {make_definition_controller, make_api_service_controller}) list_.push_back(make(server, scope_));
  if (all)
    for (Make make :
         {make_namespace_controller, make_garbage_collector, make_account_controller, make_deployment_controller,
          make_replica_set_controller, make_stateful_set_controller, make_daemon_set_controller, make_job_controller,
          make_pod_controller, make_endpoints_controller, make_load_balancer_controller, make_volume_controller,
          make_budget_controller, make_autoscaler_controller})
      list_.push_back(make(server, scope_));
  server.core().store.listen([this](const ResourceId& resource, const Event& event) {
    if (scope_.cancelled()) return;
    for (const std::unique_ptr<Controller>& controller : list_) controller->note(resource, event);
  });
}

Controllers::~Controllers() = default;

Task<void> Controllers::stop() {
  for (const std::unique_ptr<Controller>& controller : list_) controller->queue_.clear();
  scope_.cancel();
  co_await scope_.join();
  for (const std::unique_ptr<Controller>& controller : list_) controller->queue_.clear();
}

std::string_view annotation(const Json& object, std::string_view name) {
  return object["metadata"]["annotations"][fmt::format("sandbox.fairlead.dev/{}", name)].string_or("");
}

Duration delay_of(const Json& object, std::string_view name, Duration otherwise) {
  std::string_view text = annotation(object, name);
  if (text.empty()) return otherwise;
  double amount = 0;
  auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || amount < 0 || amount > 1e9) return otherwise;
  std::string_view unit(rest, size_t(text.data() + text.size() - rest));
  double seconds = unit == "ms" ? amount / 1000 : unit == "m" ? amount * 60 : unit == "h" ? amount * 3600 : amount;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace fairlead::sandbox

// PodDisruptionBudgets: how many pods may be evicted now.
#include <algorithm>

#include "object/selector.h"
#include "sandbox/controllers/workload.h"
#include "sandbox/core/conditions.h"

namespace fairlead::sandbox {
namespace {

const ResourceId kBudgets{"policy", "poddisruptionbudgets"};

class BudgetController final : public Controller {
 public:
  using Controller::Controller;

  void note(const ResourceId& resource, const Event& event) override {
    if (resource == kBudgets) add(event.place);
    if (resource == kPods)
      for (const auto& [place, budget] : core().store.all(kBudgets))
        if (place.ns == event.place.ns) add(place);
  }

 protected:
  Task<void> look(Place key) override {
    ObjectPtr budget = core().store.find(kBudgets, key);
    if (!budget) co_return;
    const Json& spec = (*budget)["spec"];
    Result<object::Selector> selector = object::Selector::from_json(spec["selector"]);
    int64_t expected = 0, healthy = 0;
    for (const auto& [place, pod] : core().store.all(kPods)) {
      if (place.ns != key.ns || !selector || !selector->matches((*pod)["metadata"]["labels"]) || !is_active(*pod))
        continue;
      ++expected;
      if (is_ready(*pod)) ++healthy;
    }
    int64_t desired = spec.contains("minAvailable") ? resolve_amount(spec["minAvailable"], expected, true)
                                                    : expected - resolve_amount(spec["maxUnavailable"], expected, true);
    desired = std::max<int64_t>(desired, 0);
    int64_t allowed = expected == 0 ? 0 : std::max<int64_t>(0, healthy - desired);
    Json object = *budget;
    Json::Object status{{"observedGeneration", (*budget)["metadata"]["generation"]},
                        {"disruptionsAllowed", allowed},
                        {"currentHealthy", healthy},
                        {"desiredHealthy", desired},
                        {"expectedPods", expected}};
    if ((*budget)["status"].contains("conditions")) status.append("conditions", (*budget)["status"]["conditions"]);
    object.make("status") = std::move(status);
    set_condition(object, Json::Object{{"type", "DisruptionAllowed"},
                                       {"status", allowed > 0 ? "True" : "False"},
                                       {"observedGeneration", (*budget)["metadata"]["generation"]},
                                       {"lastTransitionTime", core().now_text()},
                                       {"reason", allowed > 0 ? "SufficientPods" : "InsufficientPods"},
                                       {"message", ""}});
    if (object["status"].same_as((*budget)["status"])) co_return;
    Outcome<Json> written = co_await actor_.update(kBudgets, std::move(object), "status");
    if (!written && written.error().code == 409) add(key);
  }
};

}  // namespace

std::unique_ptr<Controller> make_budget_controller(ApiServer& server, Scope& scope) {
  return std::make_unique<BudgetController>(server, scope);
}

}  // namespace fairlead::sandbox

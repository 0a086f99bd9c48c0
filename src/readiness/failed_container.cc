#include "readiness/failed_container.h"

#include "readiness/internal/why_pod.h"

namespace fairlead::readiness {
namespace {

std::optional<int64_t> exit_code_of(const Json& pod, std::string_view container) {
  for (std::string_view list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items()) {
      if (status["name"].string_or("") != container) continue;
      for (std::string_view state : {"state", "lastState"})
        if (const Json& ended = status[state]["terminated"]; ended.is_object()) return ended["exitCode"].int_or(0);
    }
  return std::nullopt;
}

}  // namespace

std::optional<FailedContainer> failed_container(const Json& workload, const Objects& pods) {
  const Json* worst = nullptr;
  Trouble trouble;
  for (const Json* pod : pods) {
    if (!belongs(*pod, workload)) continue;
    Trouble its = trouble_of(*pod);
    // A container that runs and does not become ready may say why.
    if (its.weight == Trouble::Weight::not_ready && !its.container.empty()) its.logs = Trouble::Logs::current;
    if (its.logs == Trouble::Logs::none || its.container.empty()) continue;
    if (worst && its.weight <= trouble.weight) continue;
    worst = pod;
    trouble = std::move(its);
  }
  if (!worst) return std::nullopt;
  const Json& metadata = (*worst)["metadata"];
  return FailedContainer{.ns = std::string(metadata["namespace"].string_or("")),
                         .pod = std::string(metadata["name"].string_or("")),
                         .uid = std::string(metadata["uid"].string_or("")),
                         .container = trouble.container,
                         .previous = trouble.logs == Trouble::Logs::previous,
                         .exit_code = exit_code_of(*worst, trouble.container)};
}

}  // namespace fairlead::readiness

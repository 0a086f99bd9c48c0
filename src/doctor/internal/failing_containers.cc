#include "doctor/internal/failing_containers.h"

#include <iterator>
#include <set>

#include "doctor/internal/backends.h"
#include "readiness/verdict.h"

namespace fairlead::doctor {
namespace {

bool is_unready(const Json& object) {
  readiness::State state = readiness::judge(object).state;
  return state == readiness::State::in_progress || state == readiness::State::failed;
}

std::set<object::Key> behind_webhooks(const Snapshot& snapshot) {
  std::set<object::Key> keys;
  for (const Backend& backend : backends_of(snapshot)) {
    if (!backend.service) continue;
    const Json* service = snapshot.find("Service", backend.service->ns, backend.service->name);
    if (!service) continue;
    for (const Json* workload : workloads_behind(snapshot, *service)) keys.insert(key_of(*workload));
    for (const Json* pod : pods_behind(snapshot, *service)) keys.insert(key_of(*pod));
  }
  return keys;
}

}  // namespace

std::vector<readiness::FailedContainer> failing_containers(const Snapshot& snapshot) {
  std::set<object::Key> backends = behind_webhooks(snapshot);
  std::vector<readiness::FailedContainer> first, others;
  auto look_at = [&](const Json& object) {
    if (!is_unready(object)) return;
    auto failed = readiness::failed_container(object, snapshot.in_namespace("Pod", namespace_of(object)));
    if (failed) (backends.contains(key_of(object)) ? first : others).push_back(*std::move(failed));
  };
  for (std::string_view kind : {"Deployment", "StatefulSet", "DaemonSet", "Job"})
    for (const Json& workload : snapshot.all(kind)) look_at(workload);
  for (const Json& pod : snapshot.all("Pod"))
    if (pod["metadata"]["ownerReferences"].items().empty()) look_at(pod);
  first.insert(first.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  return first;
}

}  // namespace fairlead::doctor

#include "removal/internal/cleanup_reminder.h"

#include <algorithm>

#include "object/containers.h"
#include "removal/order/finalizers.h"

namespace fairlead::removal {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
// An API server that is at work looks at the instances that are left every five seconds at most.
constexpr Backoff kPauses(std::chrono::seconds(3), std::chrono::seconds(30));

}  // namespace

Task<void> CleanupReminder::keep() {
  while (co_await sleep_for(run_.loop(), kTick)) {
    for (NodeId i : run_.ids()) {
      if (!is_only_to_be_let_go(i)) continue;
      TimePoint now = run_.loop().now();
      auto [found, is_new] = reminders_.try_emplace(i, Reminder{.pauses = kPauses, .next = now});
      Reminder& reminder = found->second;
      if (is_new) reminder.next = now + reminder.pauses.next();
      if (now < reminder.next) continue;
      reminder.next = now + reminder.pauses.next();
      co_await remind(i, ++reminder.count);
    }
  }
}

bool CleanupReminder::is_only_to_be_let_go(NodeId target) const {
  const TargetState& entry = run_.state(target);
  if (!is_crd(run_.key(target)) || !entry.told || run_.plan()->is_settled(target)) return false;
  bool has_finalizer = std::ranges::any_of(entry.last["metadata"]["finalizers"].items(),
                                           [](const Json& one) { return one.string_or("") == kInstancesFinalizer; });
  const kube::Watched* instances = tracker_.instances_of(target);
  return has_finalizer && instances && instances->synced() && instances->objects().empty() &&
         !tracker_.interruption(target);
}

Task<void> CleanupReminder::remind(NodeId target, int count) {
  const TargetState& entry = run_.state(target);
  Json::Object annotations{{std::string(kRemindedAnnotation), std::to_string(count)}};
  Json patch(Json::Object{{"metadata", Json::Object{{"uid", entry.uid}, {"annotations", std::move(annotations)}}}});
  // Without the right to change the CRD, or if it is gone by now, the deletion only takes as long as it takes.
  auto done = co_await client_.patch(*entry.resource, "", run_.key(target).name, kube::PatchType::merge, patch)
                  .governed_by(&run_.halt().requests());
  if (done && !run_.plan()->is_settled(target) && count == 1)
    run_.tell(journal::EventKind::note, target, "reminded",
              "its instances are gone; the API server was reminded of it");
}

}  // namespace fairlead::removal

// Objects whose deletion does not end.
#include <algorithm>

#include "base/timestamp.h"
#include "doctor/internal/subject.h"
#include "doctor/internal/texts.h"
#include "removal/diagnosis/stuck.h"

namespace fairlead::doctor {
namespace {

// Controllers get this long to remove their finalizers.
constexpr Duration kDeletionTakes = std::chrono::minutes(5);
// Whoever asks about an object that is being deleted has waited already.
constexpr Duration kAskedDeletionTakes = std::chrono::seconds(10);

std::vector<Json> both(const Snapshot& snapshot, std::string_view first, std::string_view second) {
  std::vector<Json> all = snapshot.all(first);
  all.insert(all.end(), snapshot.all(second).begin(), snapshot.all(second).end());
  return all;
}

// Collects what removal::explain() asks for, from the snapshot: once, since that can be much.
class Cases {
 public:
  explicit Cases(const Snapshot& snapshot) : snapshot_(snapshot) {
    if (snapshot.sees_all("ValidatingWebhookConfiguration") && snapshot.sees_all("MutatingWebhookConfiguration"))
      evidence_.webhook_configurations =
          both(snapshot, "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration");
    if (snapshot.sees_all("Deployment") && snapshot.sees_all("StatefulSet"))
      evidence_.workloads = both(snapshot, "Deployment", "StatefulSet");
    evidence_.api_services = snapshot.all("APIService");
    evidence_.services = snapshot.all("Service");
    evidence_.pods = snapshot.all("Pod");
    evidence_.slices = snapshot.all("EndpointSlice");
    if (snapshot.sees_all("EndpointSlice"))
      for (const Json& ns : snapshot.all("Namespace")) evidence_.namespaces_of_slices.emplace_back(name_of(ns));
  }

  removal::Explanation explain(const Json& object) {
    evidence_.key = key_of(object);
    evidence_.resource = resource_of(object);
    evidence_.object = object;
    const Json* ns = snapshot_.find("Namespace", "", namespace_of(object));
    evidence_.ns = ns ? *ns : Json();
    find_remaining();
    return removal::explain(evidence_);
  }

 private:
  object::Resource resource_of(const Json& object) const {
    object::Key key = key_of(object);
    for (const object::Resource& one : snapshot_.resources)
      if (one.group == key.group && one.kind == key.kind) return one;
    return {.group = key.group, .version = "v1", .kind = key.kind, .plural = key.kind, .namespaced = !key.ns.empty()};
  }

  // Of a namespace: the objects in it that wait for finalizers, as far as doctor reads their kinds.
  void find_remaining() {
    evidence_.remaining.clear();
    evidence_.remaining_kinds.clear();
    if (evidence_.key.kind != "Namespace") return;
    for (std::string_view kind : {"PersistentVolumeClaim", "Pod", "Service", "Deployment", "StatefulSet", "Job"})
      for (const Json* object : snapshot_.in_namespace(kind, evidence_.key.name)) {
        if ((*object)["metadata"]["finalizers"].items().empty()) continue;
        evidence_.remaining_kinds.push_back(resource_of(*object));
        evidence_.remaining.push_back(*object);
      }
  }

  const Snapshot& snapshot_;
  removal::Evidence evidence_;
};

bool is_stuck(const Snapshot& snapshot, const Json& object, Duration patience = kDeletionTakes) {
  std::optional<WallTime> deleted = parse_timestamp(object["metadata"]["deletionTimestamp"].string_or(""));
  return deleted && *deleted + patience < snapshot.now;
}

Finding finding_for(const Json& object, removal::Explanation why) {
  object::Key key = key_of(object);
  bool holds_more = key.kind == "Namespace" || key.kind == "CustomResourceDefinition";
  return {.code = "deletion-stuck",
          .severity = holds_more ? Severity::error : Severity::warning,
          .object = key,
          .what = fmt::format("{} has been deleted since {}, and is still there", key.text(),
                              object["metadata"]["deletionTimestamp"].string_or("")),
          .causes = std::move(why.chain.causes),
          .blocks = holds_more ? "everything that is to be created in it, or of its kind, meanwhile" : "",
          .next = std::move(why.chain.next)};
}

}  // namespace

std::optional<Finding> stuck_deletion(const Snapshot& snapshot, const Json& object) {
  if (!is_stuck(snapshot, object, kAskedDeletionTakes)) return std::nullopt;
  return finding_for(object, Cases(snapshot).explain(object));
}

void check_deletions(const Snapshot& snapshot, Findings& findings) {
  std::optional<Cases> cases;
  for (std::string_view kind : {"Namespace", "CustomResourceDefinition", "PersistentVolumeClaim", "Service",
                                "Deployment", "StatefulSet", "DaemonSet", "Job", "Pod"})
    for (const Json& object : snapshot.all(kind)) {
      if (!is_stuck(snapshot, object)) continue;
      if (!cases) cases.emplace(snapshot);
      findings.push_back(finding_for(object, cases->explain(object)));
    }
}

}  // namespace fairlead::doctor

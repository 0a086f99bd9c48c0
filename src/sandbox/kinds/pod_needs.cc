#include "sandbox/kinds/pod_needs.h"

#include <fmt/format.h>

namespace fairlead::sandbox {
namespace {

bool tolerates(const Json& pod, const Json& taint) {
  for (const Json& one : pod["spec"]["tolerations"].items()) {
    std::string_view effect = one["effect"].string_or(""), key = one["key"].string_or("");
    if (!effect.empty() && effect != taint["effect"].string_or("")) continue;
    if (key.empty() && one["operator"].string_or("") == "Exists") return true;
    if (key != taint["key"].string_or("")) continue;
    if (one["operator"].string_or("") == "Exists" || one["value"].string_or("") == taint["value"].string_or(""))
      return true;
  }
  return false;
}

// The one form of node affinity that DaemonSets use: a field that is the node's name.
bool wants_by_name(const Json& pod, std::string_view node) {
  const Json& terms =
      pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (terms.items().empty()) return true;
  bool named = false;
  for (const Json& term : terms.items())
    for (const Json& field : term["matchFields"].items()) {
      if (field["key"].string_or("") != "metadata.name") continue;
      named = true;
      for (const Json& value : field["values"].items())
        if (value.string_or("") == node) return true;
    }
  return !named;
}

// A claim that is bound only once somebody uses it does not stand in the way.
bool waits_for_consumer(const Core& core, const Json& claim) {
  ObjectPtr found = core.find("storage.k8s.io", "storageclasses", "", claim["spec"]["storageClassName"].string_or(""));
  return found && (*found)["volumeBindingMode"].string_or("") == "WaitForFirstConsumer";
}

}  // namespace

Scheduling schedule(Core& core, const Json& pod) {
  const Store::Objects& nodes = core.store.all({"", "nodes"});
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    std::string_view claim = volume["persistentVolumeClaim"]["claimName"].string_or("");
    if (claim.empty()) continue;
    ObjectPtr found = core.find("", "persistentvolumeclaims", pod["metadata"]["namespace"].string_or(""), claim);
    if (!found)
      return {"",
              fmt::format("0/{} nodes are available: persistentvolumeclaim \"{}\" not found. preemption: 0/{} nodes "
                          "are available: {} Preemption is not helpful for scheduling.",
                          nodes.size(), claim, nodes.size(), nodes.size())};
    if ((*found)["status"]["phase"].string_or("") != "Bound" && !waits_for_consumer(core, *found))
      return {"", fmt::format("0/{} nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: "
                              "0/{} nodes are available: {} Preemption is not helpful for scheduling.",
                              nodes.size(), nodes.size(), nodes.size())};
  }
  std::vector<std::string> fitting;
  size_t unselected = 0, tainted = 0, closed = 0;
  for (const auto& [place, node] : nodes) {
    bool selected = wants_by_name(pod, place.name);
    for (const Json::Member& wanted : pod["spec"]["nodeSelector"].members())
      if ((*node)["metadata"]["labels"][wanted.key] != wanted.value) selected = false;
    bool free = true;
    for (const Json& taint : (*node)["spec"]["taints"].items())
      if (taint["effect"].string_or("") != "PreferNoSchedule" && !tolerates(pod, taint)) free = false;
    if ((*node)["spec"]["unschedulable"].bool_or(false)) ++closed;
    else if (!selected) ++unselected;
    else if (!free) ++tainted;
    else fitting.push_back(place.name);
  }
  if (!fitting.empty()) return {fitting[core.random.below(fitting.size())], ""};
  std::vector<std::string> reasons;
  if (unselected) reasons.push_back(fmt::format("{} node(s) didn't match Pod's node affinity/selector", unselected));
  if (tainted) reasons.push_back(fmt::format("{} node(s) had untolerated taint(s)", tainted));
  if (closed) reasons.push_back(fmt::format("{} node(s) were unschedulable", closed));
  if (nodes.empty()) return {"", "no nodes available to schedule pods"};
  return {"", fmt::format("0/{} nodes are available: {}. preemption: 0/{} nodes are available: {} Preemption is not "
                          "helpful for scheduling.",
                          nodes.size(), fmt::join(reasons, ", "), nodes.size(), nodes.size())};
}

std::optional<Missing> missing_for(const Core& core, const Json& pod) {
  std::string ns(pod["metadata"]["namespace"].string_or(""));
  auto is_missing = [&](std::string_view resource, const Json& name, const Json& optional) {
    return name.is_string() && !optional.bool_or(false) && !core.find("", resource, ns, name.string_or(""));
  };
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    const Json &secret = volume["secret"], &map = volume["configMap"];
    if (is_missing("secrets", secret["secretName"], secret["optional"]))
      return Missing{true, fmt::format("MountVolume.SetUp failed for volume \"{}\" : secret \"{}\" not found",
                                       volume["name"].string_or(""), secret["secretName"].string_or(""))};
    if (is_missing("configmaps", map["name"], map["optional"]))
      return Missing{true, fmt::format("MountVolume.SetUp failed for volume \"{}\" : configmap \"{}\" not found",
                                       volume["name"].string_or(""), map["name"].string_or(""))};
    for (const Json& source : volume["projected"]["sources"].items()) {
      const Json &its_secret = source["secret"], &its_map = source["configMap"];
      if (is_missing("secrets", its_secret["name"], its_secret["optional"]))
        return Missing{true, fmt::format("MountVolume.SetUp failed for volume \"{}\" : secret \"{}\" not found",
                                         volume["name"].string_or(""), its_secret["name"].string_or(""))};
      if (is_missing("configmaps", its_map["name"], its_map["optional"]))
        return Missing{true, fmt::format("MountVolume.SetUp failed for volume \"{}\" : configmap \"{}\" not found",
                                         volume["name"].string_or(""), its_map["name"].string_or(""))};
    }
  }
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items()) {
      for (const Json& from : container["envFrom"].items()) {
        if (is_missing("secrets", from["secretRef"]["name"], from["secretRef"]["optional"]))
          return Missing{false, fmt::format("secret \"{}\" not found", from["secretRef"]["name"].string_or(""))};
        if (is_missing("configmaps", from["configMapRef"]["name"], from["configMapRef"]["optional"]))
          return Missing{false, fmt::format("configmap \"{}\" not found", from["configMapRef"]["name"].string_or(""))};
      }
      for (const Json& variable : container["env"].items()) {
        const Json& from = variable["valueFrom"];
        if (is_missing("secrets", from["secretKeyRef"]["name"], from["secretKeyRef"]["optional"]))
          return Missing{false, fmt::format("secret \"{}\" not found", from["secretKeyRef"]["name"].string_or(""))};
        if (is_missing("configmaps", from["configMapKeyRef"]["name"], from["configMapKeyRef"]["optional"]))
          return Missing{false,
                         fmt::format("configmap \"{}\" not found", from["configMapKeyRef"]["name"].string_or(""))};
      }
    }
  return std::nullopt;
}

}  // namespace fairlead::sandbox

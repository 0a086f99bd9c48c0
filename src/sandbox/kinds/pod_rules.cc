#include "sandbox/kinds/pod_rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace fairlead::sandbox {
namespace {

std::string_view quality(const Json& spec) {
  bool any = false, guaranteed = true;
  for (const char* list : {"containers", "initContainers"})
    for (const Json& container : spec[list].items()) {
      const Json& resources = container["resources"];
      for (std::string_view what : {"cpu", "memory"}) {
        const Json &limit = resources["limits"][what], &request = resources["requests"][what];
        any = any || !limit.is_null() || !request.is_null();
        if (limit.is_null() || !(request.is_null() || request == limit)) guaranteed = false;
      }
    }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

bool mounts_token(const Json& pod, const Json& account) {
  if (const bool* own = pod["spec"]["automountServiceAccountToken"].if_bool()) return *own;
  return account["automountServiceAccountToken"].bool_or(true);
}

void mount_token(Core& core, Json& object) {
  constexpr std::string_view kPath = "/var/run/secrets/kubernetes.io/serviceaccount";
  Json& spec = object.make("spec");
  std::string name = "kube-api-access-" + core.random.name_suffix();
  bool needed = false;
  for (const char* list : {"containers", "initContainers"}) {
    Json::Array* containers = spec.make(list).is_array() ? spec.make(list).if_array() : nullptr;
    if (!containers) {
      spec.if_object()->erase(list);
      continue;
    }
    for (Json& container : *containers) {
      bool mounted = false;
      for (const Json& mount : container["volumeMounts"].items()) mounted |= mount["mountPath"].string_or("") == kPath;
      if (mounted) continue;
      Json& mounts = container.make("volumeMounts");
      if (!mounts.is_array()) mounts = Json::Array{};
      mounts.if_array()->push_back(Json::Object{{"name", name}, {"readOnly", true}, {"mountPath", kPath}});
      needed = true;
    }
  }
  if (!needed) return;
  Json::Array sources{
      Json::Object{{"serviceAccountToken", Json::Object{{"expirationSeconds", 3607}, {"path", "token"}}}},
      Json::Object{
          {"configMap", Json::Object{{"name", "kube-root-ca.crt"},
                                     {"items", Json::Array{Json::Object{{"key", "ca.crt"}, {"path", "ca.crt"}}}}}}},
      Json::Object{{"downwardAPI",
                    Json::Object{{"items", Json::Array{Json::Object{
                                               {"path", "namespace"},
                                               {"fieldRef", Json::Object{{"apiVersion", "v1"},
                                                                         {"fieldPath", "metadata.namespace"}}}}}}}}}};
  Json& volumes = spec.make("volumes");
  if (!volumes.is_array()) volumes = Json::Array{};
  volumes.if_array()->push_back(
      Json::Object{{"name", name}, {"projected", Json::Object{{"sources", std::move(sources)}, {"defaultMode", 420}}}});
}

void tolerate(Json& spec) {
  Json& list = spec.make("tolerations");
  if (!list.is_array()) list = Json::Array{};
  for (std::string_view key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    bool there = false;
    for (const Json& one : list.items()) {
      std::string_view effect = one["effect"].string_or("");
      std::string_view its_key = one["key"].string_or("");
      there |= (its_key == key || its_key.empty()) && (effect == "NoExecute" || effect.empty());
    }
    if (!there)
      list.if_array()->push_back(
          Json::Object{{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 300}});
  }
}

Outcome<void> give_priority(Core& core, const Place& place, Json& spec) {
  std::string_view wanted = spec["priorityClassName"].string_or("");
  int64_t value = 0;
  std::string policy = "PreemptLowerPriority";
  if (!wanted.empty()) {
    ObjectPtr found = core.find("scheduling.k8s.io", "priorityclasses", "", wanted);
    if (!found)
      return refuse(
          forbidden({"", "pods"}, place.name, fmt::format("no PriorityClass with name {} was found", wanted)));
    value = (*found)["value"].int_or(0);
    policy = (*found)["preemptionPolicy"].string_or("PreemptLowerPriority");
  } else {
    for (const auto& [at, one] : core.store.all({"scheduling.k8s.io", "priorityclasses"}))
      if ((*one)["globalDefault"].bool_or(false)) {
        spec.make("priorityClassName") = at.name;
        value = (*one)["value"].int_or(0);
        policy = (*one)["preemptionPolicy"].string_or("PreemptLowerPriority");
      }
  }
  if (const int64_t* given = spec["priority"].if_int64(); given && *given != value)
    return refuse(forbidden({"", "pods"}, place.name,
                            fmt::format("the integer value of priority ({}) must not be provided in pod spec; priority "
                                        "admission controller computed {} from the given PriorityClass name",
                                        *given, value)));
  spec.make("priority") = value;
  if (!spec.contains("preemptionPolicy")) spec.make("preemptionPolicy") = policy;
  return {};
}

}  // namespace

Outcome<void> admit_pod(Core& core, const Place& place, Json& object) {
  Json& spec = object.make("spec");
  std::string account(spec["serviceAccountName"].string_or(""));
  if (account.empty()) account = "default";
  ObjectPtr found = core.find("", "serviceaccounts", place.ns, account);
  if (!found)
    return refuse(forbidden({"", "pods"}, place.name,
                            fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                                        place.ns, account, account)));
  spec.make("serviceAccountName") = account;
  spec.make("serviceAccount") = account;
  if (mounts_token(object, *found)) mount_token(core, object);
  if (object["spec"]["imagePullSecrets"].items().empty() && !(*found)["imagePullSecrets"].items().empty())
    object.make("spec").make("imagePullSecrets") = (*found)["imagePullSecrets"];
  tolerate(object.make("spec"));
  return give_priority(core, place, object.make("spec"));
}

void create_pod(Core&, Json& object) {
  object.make("status") = Json::Object{{"phase", "Pending"}, {"qosClass", quality(object["spec"])}};
}

void validate_pod_spec(const Json& spec, const std::string& at, std::vector<Cause>& causes) {
  if (spec["containers"].items().empty()) causes.push_back(required(at + ".containers", ""));
  size_t index = 0;
  std::vector<std::string> names;
  for (const Json& container : spec["containers"].items()) {
    std::string where = fmt::format("{}.containers[{}]", at, index++);
    std::string name(container["name"].string_or(""));
    if (name.empty()) causes.push_back(required(where + ".name", ""));
    else if (std::find(names.begin(), names.end(), name) != names.end())
      causes.push_back(duplicate_value(where + ".name", Json(name)));
    names.push_back(name);
    // A template may leave the image to somebody who fills it in later; a pod may not.
    if (container["image"].string_or("").empty()) causes.push_back(required(where + ".image", ""));
  }
}

void validate_pod(const Core&, const Json* live, const Json& object, std::vector<Cause>& causes) {
  validate_pod_spec(object["spec"], "spec", causes);
  if (!live) return;
  // Of a pod's spec, an update may change images, deadlines and tolerations, and nothing else.
  auto fixed = [](const Json& pod) {
    Json spec = pod["spec"];
    for (std::string_view field : {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "nodeName"})
      spec.if_object()->erase(field);
    for (const char* list : {"containers", "initContainers"})
      if (Json::Array* containers = spec[list].is_array() ? spec.make(list).if_array() : nullptr)
        for (Json& container : *containers) container.if_object()->erase("image");
    return spec;
  };
  if (!fixed(*live).same_as(fixed(object)))
    causes.push_back(forbidden_field(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

}  // namespace fairlead::sandbox

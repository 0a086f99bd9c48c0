#include "graph/internal/pods.h"

#include <fmt/format.h>

namespace fairlead::graph {
namespace {

using Visit = std::function<void(const Reference&)>;

void visit_source(const Json& source, std::string_view kind, std::string_view name_field, std::string_view what,
                  std::string_view detail, std::string_view container, const Visit& visit) {
  std::string_view name = source[name_field].string_or("");
  if (name.empty() || source["optional"].bool_or(false)) return;
  visit({.group = "", .kind = kind, .name = name, .what = what, .detail = detail, .container = container});
}

void visit_volume(const Json& volume, const Visit& visit) {
  std::string_view name = volume["name"].string_or("");
  auto source = [&](const Json& from, std::string_view kind, std::string_view field) {
    visit_source(from, kind, field, "volume", name, {}, visit);
  };
  for (const Json::Member& member : volume.members()) {
    if (member.key == "configMap") source(member.value, "ConfigMap", "name");
    else if (member.key == "secret") source(member.value, "Secret", "secretName");
    else if (member.key == "persistentVolumeClaim") source(member.value, "PersistentVolumeClaim", "claimName");
    else if (member.key == "csi") source(member.value["nodePublishSecretRef"], "Secret", "name");
    else if (member.key == "ephemeral") {
      std::string_view storage = member.value["volumeClaimTemplate"]["spec"]["storageClassName"].string_or("");
      if (!storage.empty())
        visit({.group = "storage.k8s.io",
               .kind = "StorageClass",
               .name = storage,
               .what = "volume",
               .detail = name,
               .container = {}});
    } else if (member.key == "projected") {
      for (const Json& part : member.value["sources"].items()) {
        source(part["configMap"], "ConfigMap", "name");
        source(part["secret"], "Secret", "name");
      }
    }
  }
}

void visit_container(const Json& container, const Visit& visit) {
  std::string_view name = container["name"].string_or("");
  for (const Json& from : container["envFrom"].items()) {
    visit_source(from["configMapRef"], "ConfigMap", "name", "envFrom", {}, name, visit);
    visit_source(from["secretRef"], "Secret", "name", "envFrom", {}, name, visit);
  }
  for (const Json& variable : container["env"].items()) {
    const Json& from = variable["valueFrom"];
    if (!from.is_object()) continue;
    std::string_view env = variable["name"].string_or("");
    visit_source(from["configMapKeyRef"], "ConfigMap", "name", "env", env, name, visit);
    visit_source(from["secretKeyRef"], "Secret", "name", "env", env, name, visit);
  }
}

}  // namespace

const Json* find_pod(Family family, const Json& object) {
  const Json* pod = nullptr;
  switch (family) {
    case Family::pod: pod = &object; break;
    case Family::workload:
    case Family::job: pod = &object["spec"]["template"]; break;
    case Family::cron_job: pod = &object["spec"]["jobTemplate"]["spec"]["template"]; break;
    default: return nullptr;
  }
  return pod->is_object() ? pod : nullptr;
}

std::string Reference::reason() const {
  std::string text(what);
  if (!detail.empty()) text.append(" ").append(detail);
  if (!container.empty()) text.append(" of container ").append(container);
  return text;
}

void visit_references(const Json& spec, const Visit& visit) {
  std::string_view account = spec["serviceAccountName"].string_or("");
  if (account.empty()) account = spec["serviceAccount"].string_or("");
  auto plain = [&](std::string_view group, std::string_view kind, std::string_view name, std::string_view what) {
    if (!name.empty()) visit({.group = group, .kind = kind, .name = name, .what = what, .detail = {}, .container = {}});
  };
  // Kubernetes creates the one named "default" in every namespace.
  if (account != "default") plain("", "ServiceAccount", account, "its ServiceAccount");
  plain("scheduling.k8s.io", "PriorityClass", spec["priorityClassName"].string_or(""), "its PriorityClass");
  plain("node.k8s.io", "RuntimeClass", spec["runtimeClassName"].string_or(""), "its RuntimeClass");
  for (const Json& secret : spec["imagePullSecrets"].items())
    plain("", "Secret", secret["name"].string_or(""), "its image pull secret");
  for (const Json& volume : spec["volumes"].items()) visit_volume(volume, visit);
  for (std::string_view list : {"initContainers", "containers", "ephemeralContainers"})
    for (const Json& container : spec[list].items()) visit_container(container, visit);
}

void visit_words(const Json& spec, const std::function<void(std::string_view)>& visit) {
  auto argument = [&](std::string_view text) {
    visit(text);
    if (size_t equals = text.find('='); equals != std::string_view::npos) visit(text.substr(equals + 1));
  };
  for (std::string_view list : {"initContainers", "containers"})
    for (const Json& container : spec[list].items()) {
      for (std::string_view line : {"command", "args"})
        for (const Json& text : container[line].items()) argument(text.string_or(""));
      for (const Json& variable : container["env"].items()) visit(variable["value"].string_or(""));
    }
}

}  // namespace fairlead::graph

#include "doctor/internal/serving_secrets.h"

#include <algorithm>

namespace fairlead::doctor {
namespace {

void add(std::vector<object::Key>& keys, std::string_view ns, std::string_view name) {
  if (name.empty()) return;
  object::Key key{.group = "", .kind = "Secret", .ns = std::string(ns), .name = std::string(name)};
  if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
}

void add_volumes(std::vector<object::Key>& keys, std::string_view ns, const Json& pod_spec) {
  for (const Json& volume : pod_spec["volumes"].items()) {
    add(keys, ns, volume["secret"]["secretName"].string_or(""));
    for (const Json& source : volume["projected"]["sources"].items())
      add(keys, ns, source["secret"]["name"].string_or(""));
  }
}

bool looks_like_certificate(const object::Key& key) {
  return key.name.contains("cert") || key.name.contains("tls") || key.name.contains("webhook");
}

}  // namespace

std::vector<object::Key> mounted_secrets(const Snapshot& snapshot, const admission::ServiceReference& reference) {
  std::vector<object::Key> keys;
  const Json* service = snapshot.find("Service", reference.ns, reference.name);
  if (!service) return keys;
  for (const Json* pod : pods_behind(snapshot, *service)) add_volumes(keys, reference.ns, (*pod)["spec"]);
  for (const Json* workload : workloads_behind(snapshot, *service))
    add_volumes(keys, reference.ns, (*workload)["spec"]["template"]["spec"]);
  return keys;
}

std::vector<object::Key> serving_secrets(const Snapshot& snapshot) {
  std::vector<object::Key> keys;
  for (const Backend& backend : backends_of(snapshot)) {
    if (!backend.service || backend.insecure) continue;
    for (const object::Key& key : mounted_secrets(snapshot, *backend.service))
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
  }
  std::ranges::sort(keys, {}, [](const object::Key& key) { return std::pair(!looks_like_certificate(key), key); });
  return keys;
}

}  // namespace fairlead::doctor

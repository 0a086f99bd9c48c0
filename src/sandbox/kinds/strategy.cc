#include "sandbox/kinds/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sandbox/core/custom_kind.h"
#include "sandbox/kinds/internal/kind_rules.h"
#include "sandbox/kinds/internal/validate_meta.h"
#include "sandbox/kinds/types.h"

namespace fairlead::sandbox {
namespace {

using Names = std::set<ResourceId>;

bool in(const Names& names, const Kind& kind) { return !kind.custom && names.contains(kind.id()); }

const Names& counted_kinds() {
  static const Names kNames = {{"", "pods"},
                               {"", "podtemplates"},
                               {"", "replicationcontrollers"},
                               {"apps", "deployments"},
                               {"apps", "replicasets"},
                               {"apps", "statefulsets"},
                               {"apps", "daemonsets"},
                               {"autoscaling", "horizontalpodautoscalers"},
                               {"batch", "jobs"},
                               {"batch", "cronjobs"},
                               {"networking.k8s.io", "ingresses"},
                               {"networking.k8s.io", "ingressclasses"},
                               {"networking.k8s.io", "networkpolicies"},
                               {"policy", "poddisruptionbudgets"},
                               {"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
                               {"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
                               {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
                               {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
                               {"admissionregistration.k8s.io", "mutatingadmissionpolicies"},
                               {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"},
                               {"scheduling.k8s.io", "priorityclasses"},
                               {"discovery.k8s.io", "endpointslices"},
                               {"apiextensions.k8s.io", "customresourcedefinitions"}};
  return kNames;
}

// Whether what the generation counts has changed: everything but metadata and status.
bool content_differs(const Json& a, const Json& b) {
  auto content = [](const Json& object) {
    Json copy = object;
    for (std::string_view key : {"metadata", "status", "apiVersion", "kind"}) copy.if_object()->erase(key);
    return copy;
  };
  return !content(a).same_as(content(b));
}

void keep(const Json* live, Json& object, std::string_view member) {
  if (live && live->contains(member)) object.make(member) = (*live)[member];
  else if (object.is_object()) object.if_object()->erase(member);
}

}  // namespace

bool has_status(const Kind& kind) {
  if (kind.custom) return kind.custom->has_status;
  return kind.find_subresource("status") != nullptr;
}

bool creates_on_update(const Kind& kind) {
  static const Names kNames = {{"", "endpoints"},
                               {"", "events"},
                               {"events.k8s.io", "events"},
                               {"", "limitranges"},
                               {"", "services"},
                               {"rbac.authorization.k8s.io", "roles"},
                               {"rbac.authorization.k8s.io", "rolebindings"},
                               {"rbac.authorization.k8s.io", "clusterroles"},
                               {"rbac.authorization.k8s.io", "clusterrolebindings"},
                               {"coordination.k8s.io", "leases"},
                               {"node.k8s.io", "runtimeclasses"}};
  return in(kNames, kind);
}

bool updates_unconditionally(const Kind& kind) {
  static const Names kStrict = {{"coordination.k8s.io", "leases"},
                                {"apiextensions.k8s.io", "customresourcedefinitions"},
                                {"apiregistration.k8s.io", "apiservices"},
                                {"admissionregistration.k8s.io", "mutatingwebhookconfigurations"},
                                {"admissionregistration.k8s.io", "validatingwebhookconfigurations"},
                                {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
                                {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
                                {"admissionregistration.k8s.io", "mutatingadmissionpolicies"},
                                {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"},
                                {"policy", "poddisruptionbudgets"},
                                {"node.k8s.io", "runtimeclasses"},
                                {"storage.k8s.io", "csidrivers"},
                                {"storage.k8s.io", "csinodes"},
                                {"storage.k8s.io", "volumeattachments"},
                                {"flowcontrol.apiserver.k8s.io", "flowschemas"},
                                {"flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"},
                                {"storagemigration.k8s.io", "storageversionmigrations"}};
  return !kind.custom && !in(kStrict, kind);
}

bool returns_deleted(const Kind& kind) {
  static const Names kNames = {{"", "pods"},
                               {"", "services"},
                               {"", "serviceaccounts"},
                               {"", "persistentvolumeclaims"},
                               {"", "persistentvolumes"},
                               {"", "podtemplates"},
                               {"", "resourcequotas"},
                               {"", "namespaces"}};
  return in(kNames, kind);
}

void reset_fields(const Kind& kind, std::string_view subresource, const Json* live, Json& object) {
  if (subresource.empty()) {
    if (has_status(kind)) keep(live, object, "status");
    if (!kind.custom && kind.id() == ResourceId{"", "namespaces"}) keep(live, object, "spec");
    return;
  }
  if (subresource == "finalize" && live) {
    // Only the finalizers in the spec, of everything.
    Json finalizers = object["spec"]["finalizers"];
    Json version = object["metadata"]["resourceVersion"];
    object = *live;
    if (version.is_string()) object.make("metadata").make("resourceVersion") = version;
    object.make("spec").make("finalizers") = finalizers.is_null() ? Json(Json::Array{}) : finalizers;
    return;
  }
  if (subresource != "status" || !live) return;
  Json status = object["status"];
  Json metadata = object["metadata"];
  Json whole = *live;
  if (kind.custom) {
    // Nothing of the metadata but who wrote it.
    metadata = (*live)["metadata"];
    if (object["metadata"].contains("resourceVersion"))
      metadata.make("resourceVersion") = object["metadata"]["resourceVersion"];
    else metadata.if_object()->erase("resourceVersion");
    if (object["metadata"].contains("managedFields"))
      metadata.make("managedFields") = object["metadata"]["managedFields"];
  } else if (kind.id() == ResourceId{"apps", "deployments"}) {
    metadata.make("labels") = (*live)["metadata"]["labels"];
    if (metadata["labels"].is_null()) metadata.if_object()->erase("labels");
  }
  whole.make("metadata") = std::move(metadata);
  if (status.is_null()) whole.if_object()->erase("status");
  else whole.make("status") = std::move(status);
  object = std::move(whole);
}

void prepare_for_create(Core& core, const Kind& kind, Json& object) {
  if (has_status(kind)) object.if_object()->erase("status");
  if (kind.custom || in(counted_kinds(), kind)) object.make("metadata").make("generation") = 1;
  if (kind.custom) return;
  if (const KindRule* rule = rule_for(kind); rule && rule->create) rule->create(core, object);
  object = settle(kind, std::move(object));
}

void prepare_for_update(Core& core, const Kind& kind, std::string_view subresource, const Json& live, Json& object) {
  reset_fields(kind, subresource, &live, object);
  if (!kind.custom) {
    if (const KindRule* rule = rule_for(kind); rule && rule->update && subresource.empty())
      rule->update(core, live, object);
    object = settle(kind, std::move(object));
  }
  bool counted = kind.custom || in(counted_kinds(), kind);
  if (!counted || subresource == "status") return;
  bool changed = content_differs(live, object);
  // Without a status of its own, a custom resource's status counts like the rest.
  if (kind.custom && !kind.custom->has_status && !live["status"].same_as(object["status"])) changed = true;
  if (changed) object.make("metadata").make("generation") = live["metadata"]["generation"].int_or(0) + 1;
}

std::vector<Cause> validate(const Core& core, const Kind& kind, std::string_view subresource, const Json* live,
                            const Json& object) {
  std::vector<Cause> causes;
  if (kind.custom && object["kind"].string_or("") != kind.kind)
    return {invalid_value("kind", object["kind"], fmt::format("must be {}", kind.kind))};
  validate_metadata(kind, live, object, causes);
  if (kind.custom) {
    std::vector<Cause> found = schema_causes(kind, subresource, live, object);
    causes.insert(causes.end(), found.begin(), found.end());
  } else if (const KindRule* rule = rule_for(kind); rule && rule->validate && subresource != "status") {
    // The real server has other rules for the status, which does not have to fit the rest of the object.
    rule->validate(core, live, object, causes);
  }
  return causes;
}

std::vector<std::string> warnings_of(const Kind& kind, const Json& object) {
  const KindRule* rule = kind.custom ? nullptr : rule_for(kind);
  return rule && rule->warnings ? rule->warnings(object) : std::vector<std::string>();
}

}  // namespace fairlead::sandbox

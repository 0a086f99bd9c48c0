#include "sandbox/verbs/internal/admission_chain.h"

#include <fmt/format.h>

#include "sandbox/core/custom_kind.h"
#include "sandbox/kinds/pod_rules.h"
#include "sandbox/verbs/internal/webhook_admission.h"

namespace fairlead::sandbox {
namespace {

// Nothing is created in a namespace that is not there or on its way out; some namespaces never go.
Outcome<void> check_namespace(const Core& core, const Attributes& attributes) {
  const Kind& kind = attributes.kind;
  if (kind.is("", "namespaces")) {
    std::string_view name = attributes.place.name;
    if (attributes.operation == Operation::remove &&
        (name == "default" || name == "kube-system" || name == "kube-public"))
      return refuse(forbidden(kind.id(), name, "this namespace may not be deleted"));
    return {};
  }
  if (!kind.namespaced || attributes.operation == Operation::remove) return {};
  // Reviews ask about a namespace and are not in it.
  if (kind.group == "authorization.k8s.io") return {};
  ObjectPtr ns = core.find("", "namespaces", "", attributes.place.ns);
  if (!ns) return refuse(not_found({"", "namespaces"}, attributes.place.ns));
  if (attributes.operation != Operation::create || !(*ns)["metadata"].contains("deletionTimestamp")) return {};
  Status status = forbidden(
      kind.id(), attributes.place.name,
      fmt::format("unable to create new content in namespace {} because it is being terminated", attributes.place.ns));
  status.details.make("causes") =
      Json::Array{Json::Object{{"reason", "NamespaceTerminating"},
                               {"message", fmt::format("namespace {} is being terminated", attributes.place.ns)},
                               {"field", "metadata.namespace"}}};
  return refuse(std::move(status));
}

Outcome<void> check_definition(const Attributes& attributes) {
  const Kind& kind = attributes.kind;
  if (attributes.operation != Operation::create || !kind.custom || !kind.custom->terminating) return {};
  return refuse(forbidden(kind.id(), attributes.place.name,
                          "create not allowed while custom resource definition is terminating"));
}

void protect(Json& object, std::string_view finalizer) {
  Json& list = object.make("metadata").make("finalizers");
  if (!list.is_array()) list = Json::Array{};
  for (const Json& one : list.items())
    if (one.string_or("") == finalizer) return;
  list.if_array()->emplace_back(finalizer);
}

void default_storage_class(const Core& core, Json& object) {
  if (object["spec"].contains("storageClassName")) return;
  for (const auto& [place, one] : core.store.all({"storage.k8s.io", "storageclasses"}))
    if ((*one)["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"].string_or("") == "true") {
      object.make("spec").make("storageClassName") = place.name;
      return;
    }
}

Outcome<void> mutate_by_own_rules(Core& core, Attributes& attributes) {
  if (attributes.operation != Operation::create || !attributes.object || !attributes.subresource.empty()) return {};
  const Kind& kind = attributes.kind;
  if (kind.is("", "pods")) return admit_pod(core, attributes.place, *attributes.object);
  if (kind.is("", "persistentvolumeclaims")) {
    default_storage_class(core, *attributes.object);
    protect(*attributes.object, "kubernetes.io/pvc-protection");
  }
  if (kind.is("", "persistentvolumes")) protect(*attributes.object, "kubernetes.io/pv-protection");
  return {};
}

}  // namespace

Task<Outcome<void>> admit_mutating(ApiServer& server, Call& call, Attributes& attributes) {
  CO_TRY(check_definition(attributes));
  CO_TRY(check_namespace(server.core(), attributes));
  CO_TRY(mutate_by_own_rules(server.core(), attributes));
  CO_TRY(co_await run_mutating_policies(server, call, attributes));
  co_return co_await call_mutating_webhooks(server, call, attributes);
}

Task<Outcome<void>> admit_validating(ApiServer& server, Call& call, Attributes& attributes) {
  CO_TRY(co_await check_policies(server, call, attributes));
  co_return co_await call_validating_webhooks(server, call, attributes);
}

}  // namespace fairlead::sandbox

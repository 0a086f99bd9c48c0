// Explains why an object that is being deleted makes no progress: the causes down to the root, and what to do next.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "object/key.h"
#include "object/resource.h"
#include "removal/diagnosis/causes.h"

namespace fairlead::removal {

// The objects that were read from the cluster. Nothing is said about objects that could not be read.
struct Evidence {
  object::Key key;
  object::Resource resource;
  // The whole object, with managedFields.
  Json object;
  // The objects that block it: objects in a namespace, instances of a CRD, objects that it owns. At least their
  // metadata.
  std::vector<Json> remaining;
  // The kind of each of these, as the cluster serves it.
  std::vector<object::Resource> remaining_kinds;
  // The Namespace of the object that holder_of() returns.
  Json ns;
  std::vector<Json> webhook_configurations;
  // The Deployments and StatefulSets of the cluster.
  std::optional<std::vector<Json>> workloads;
  // Of the namespaces that were searched. `namespaces_of_slices`: where EndpointSlices were read.
  std::vector<Json> pods;
  std::vector<Json> slices;
  std::vector<std::string> namespaces_of_slices;
  // The Services that webhooks name, as far as they exist.
  std::vector<Json> services;
  std::vector<Json> api_services;
};

// The object whose finalizers really block the deletion: the first of `remaining` that has finalizers, or else the
// object itself. Its `object` is null if none has any.
struct Holder {
  const Json* object = nullptr;
  object::Key key;
  object::Resource resource;
};
Holder holder_of(const Evidence& evidence);

// Returns the webhooks that are called when the holder's finalizers are removed, and that refuse the update if they do
// not answer.
std::vector<admission::Webhook> webhooks_before(const Holder& holder, const Evidence& evidence);
// Returns the first of these that has a Service without ready endpoints; nothing if that is not known of any.
std::optional<admission::Webhook> silent_webhook(const Holder& holder, const Evidence& evidence);

// Returns the workload that seems to remove the finalizer; null if none is found.
const Json* controller_of(std::string_view finalizer, const Holder& holder, const std::vector<Json>& workloads);
// Returns the field manager that added the finalizer; empty if it is not known, or if its name says nothing.
std::string manager_of(const Json& object, std::string_view finalizer);

struct Explanation {
  Chain chain;
  // What is left behind if the finalizers are removed by force; empty if that is not known.
  std::string leaves;
  // The objects that may tell more (readiness/closer_look.h): the controller that is not ready, the Service of the
  // webhook that does not answer, the remaining object that has the finalizer.
  std::vector<Json> suspects;
};
Explanation explain(const Evidence& evidence);

}  // namespace fairlead::removal

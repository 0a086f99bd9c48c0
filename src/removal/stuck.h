// Why an object that was told to go does not: from what the cluster shows, down to the root, with what to do next.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/webhook.h"
#include "base/json.h"
#include "object/key.h"
#include "object/resource.h"
#include "removal/causes.h"

namespace fairlead::removal {

// What was read of the cluster. What could not be read is left out, and nothing is said about it.
struct Evidence {
  object::Key key;
  object::Resource resource;
  // Whole, with managedFields.
  Json object;
  // What stands in its way itself: objects in a namespace, instances of a CRD, what an object owns. At least metadata.
  std::vector<Json> remaining;
  // The kind of those, as the cluster serves it.
  std::vector<object::Resource> remaining_kinds;
  // Of the object that is looked at in the end.
  Json ns;
  std::optional<std::vector<Json>> webhook_configurations;
  // Deployments and StatefulSets of the cluster.
  std::optional<std::vector<Json>> workloads;
  // Of the namespaces in which something is looked for.
  std::vector<Json> pods;
  std::vector<Json> slices;
  std::vector<std::string> namespaces_of_slices;
  // Those that webhooks name, as far as they are there.
  std::vector<Json> services;
  std::vector<Json> api_services;
};

// The object whose finalizers really stand in the way: the object itself, or the first of `remaining` that has some.
struct Holder {
  const Json* object = nullptr;
  object::Key key;
  object::Resource resource;
};
Holder holder_of(const Evidence& evidence);

// The webhooks that the removal of its finalizers has to pass, and that refuse it when they do not answer.
std::vector<admission::Webhook> webhooks_before(const Holder& holder, const Evidence& evidence);

// The workload that seems to remove the finalizer; null where none can be found.
const Json* controller_of(std::string_view finalizer, const Holder& holder, const std::vector<Json>& workloads);
// Who wrote it into the object; empty where that is not known, or says nothing.
std::string manager_of(const Json& object, std::string_view finalizer);

struct Explanation {
  Chain chain;
  // What stays behind if the finalizers are taken away by force; empty where that is not known.
  std::string leaves;
};
Explanation explain(const Evidence& evidence);

}  // namespace fairlead::removal

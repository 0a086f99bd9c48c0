// The resource fairlead_bundle: many objects, rolled out by the engine in the order that the cluster needs.
//
// This is the room's first header. CRDs and their instances, webhooks and the objects that they guard come in one plan
// and one apply. The bundle has the same inventory in the cluster as one of `fairlead apply --name`. source.h reads the
// manifests.
//
// A bundle that is half made stays in the state with `complete = false`. If Terraform marks it as tainted, the next
// apply "replaces" it: the first half deletes nothing then, and the second goes on with the rollout. Planned private
// state tells a destroy from the first half of a replacement: only a destroy has `destroy`, and only a replacement by
// another bundle has `replaces`.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<Resource> make_bundle_resource();

}  // namespace fairlead::terraform

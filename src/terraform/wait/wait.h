// The resource fairlead_wait: waits until an object is in some state, and waits again when its triggers change.
//
// This is the room's first header. It never changes anything in the cluster. A wait that fails is an error of its own
// node: nothing is recreated, and the next apply waits again.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<Resource> make_wait_resource();

}  // namespace fairlead::terraform

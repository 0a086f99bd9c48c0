// The resource fairlead_patch: some fields of an object that others manage.
//
// This is the room's first header. Plan and refresh never write. Each resource has a field manager of its own. When a
// patch is destroyed, the fields go back to the managers that had them before, and the values stay. content.h reads the
// patch.
//
// Private state: `applied` has the values that the last apply stored, and `before` who owned the fields until then.
#pragma once

#include <memory>

#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<Resource> make_patch_resource();

}  // namespace fairlead::terraform

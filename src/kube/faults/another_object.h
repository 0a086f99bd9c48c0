// Whether an answer says that somebody else's object has taken the name.
#pragma once

#include "kube/faults/fault.h"

namespace fairlead::kube {

// True if the object was deleted and created again by somebody: the UID that the request has is that of a former object
// with the same name. Pure.
bool is_about_another_object(const Fault& fault);

}  // namespace fairlead::kube

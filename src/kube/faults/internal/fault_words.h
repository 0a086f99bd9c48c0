// The words of a Fault: its sentence and its advice. For fault.cc only.
#pragma once

#include <string_view>

#include "kube/faults/fault.h"
#include "kube/faults/internal/request_path.h"

namespace fairlead::kube {

// Fills in `explanation` and `advice` from everything else. `tail` is what the server's message says beyond what the
// members of the fault have.
void explain(Fault& fault, std::string_view method, const RequestPath& path, std::string_view tail);

}  // namespace fairlead::kube

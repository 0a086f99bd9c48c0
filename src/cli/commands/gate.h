// The parts of `fairlead gate`.
#pragma once

#include <string>

#include "cli/core/flags.h"
#include "cli/core/invocation.h"

namespace fairlead::cli {

// The namespace of the gate: that of -n, or one of its own.
std::string gate_namespace(const Invocation& invocation);

void add_gate_serve(Command gate, Invocation& invocation);
// install, upgrade, uninstall and manifests.
void add_gate_install(Command gate, Invocation& invocation);
void add_gate_status(Command gate, Invocation& invocation);

}  // namespace fairlead::cli

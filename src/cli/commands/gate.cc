#include "cli/commands/gate.h"

#include "cli/commands/commands.h"

namespace fairlead::cli {

std::string gate_namespace(const Invocation& invocation) {
  return invocation.globals.namespace_name.empty() ? "fairlead-gate" : invocation.globals.namespace_name;
}

void add_gate(Command app, Invocation& invocation) {
  Command command = app.subcommand("gate", "Let requests of every tool wait until the webhooks in their way work");
  command.requires_subcommand();
  add_gate_serve(command, invocation);
  add_gate_install(command, invocation);
  add_gate_status(command, invocation);
}

}  // namespace fairlead::cli

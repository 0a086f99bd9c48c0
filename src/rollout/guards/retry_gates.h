// All RetryGates of a run, by the cause that blocks the objects there.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/faults/fault.h"
#include "rollout/guards/retry_gate.h"

namespace fairlead::rollout {

class RetryGates {
 public:
  explicit RetryGates(Loop& loop) : loop_(loop) {}

  // Returns the gate of that name. Creates it on the first call.
  RetryGate& at(const std::string& what);

 private:
  Loop& loop_;
  std::map<std::string, std::unique_ptr<RetryGate>, std::less<>> gates_;
};

// Returns the name of the gate for an object that was refused with this fault. Objects blocked by the same cause get
// the same name. While a Service cannot be reached, the cause is the Service, whichever webhook or conversion is called
// through it.
std::string gate_for(const kube::Fault& fault);
std::string gate_of_webhook(std::string_view name);
std::string gate_of_service(std::string_view ns, std::string_view name);
// True if the API server got no connection to the webhook, or lost it, or waited too long for an answer.
bool is_out_of_reach(kube::FaultKind kind);
// True if the fault says that nobody answers behind the Service that it names.
bool is_about_service(const kube::Fault& fault);

}  // namespace fairlead::rollout

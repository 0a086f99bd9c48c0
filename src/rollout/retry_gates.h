// All gates of a run, by what holds the objects that wait there.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/fault.h"
#include "rollout/retry_gate.h"

namespace fairlead::rollout {

class RetryGates {
 public:
  explicit RetryGates(Loop& loop) : loop_(loop) {}

  // Made when it is first asked for.
  RetryGate& at(const std::string& what);

 private:
  Loop& loop_;
  std::map<std::string, std::unique_ptr<RetryGate>, std::less<>> gates_;
};

// What an object waits for that was refused in this way, as a name: the same for all that wait for the same. While a
// Service cannot be reached, that is the Service, whichever webhook or conversion is called through it.
std::string gate_for(const kube::Fault& fault);
std::string gate_of_webhook(std::string_view name);
std::string gate_of_service(std::string_view ns, std::string_view name);
// The API server could not connect to the webhook.
bool is_out_of_reach(kube::FaultKind kind);
// The fault says that nobody answers behind the Service that it names.
bool is_about_service(const kube::Fault& fault);

}  // namespace fairlead::rollout

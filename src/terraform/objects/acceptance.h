// Sends a request again while the cluster cannot take it yet.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "async/scope.h"
#include "base/clock.h"
#include "kube/client.h"
#include "kube/discovery.h"

namespace fairlead::terraform {

// How long a namespace or a CRD, which the same run may be creating, is waited for.
inline constexpr Duration kPrerequisiteTime = std::chrono::seconds(30);

struct Patience {
  // For everything that can pass: webhooks that do not answer yet, quotas, a server that starts.
  Duration whole = std::chrono::minutes(5);
  // Told once for each new reason to wait.
  std::function<void(const std::string& why)> waits = {};
};

// A request that is in flight when Terraform stops may take this long. If it were cut short, nobody would know whether
// the object was written.
inline constexpr Duration kGraceTime = std::chrono::seconds(5);

// Sends until the answer is a success, is final, or the time is over. Returns the last answer. If the task is
// cancelled, the request in flight has its grace time, and no other is sent.
Task<kube::Outcome<kube::Reply>> send_until_accepted(Loop& loop, Patience patience,
                                                     std::function<Task<kube::Outcome<kube::Reply>>()> send);

// Looks for the kind until it is served or the time for prerequisites is over. Nothing if it is not served.
Task<kube::Outcome<std::optional<object::Resource>>> await_kind(Loop& loop, kube::Discovery& discovery,
                                                                std::string group, std::string version,
                                                                std::string kind, Patience patience);

// True if the object could not be checked because of something that may be there by the time of the apply: a namespace,
// a CRD, a webhook, a server that does not answer now.
bool may_come(const kube::Failure& failure);

}  // namespace fairlead::terraform

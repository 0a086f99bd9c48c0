// Explains why an object is not ready, from the pods behind it: the chain of causes for a report, and what to look at
// next.
//
// Pure. Callers may pass all pods and EndpointSlices of a namespace; those that do not belong to the object are
// ignored. Every text is one line of limited length. Messages that containers wrote are never quoted.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

namespace fairlead::readiness {

struct Why {
  // The causes, outermost first: "service team/web has 0 of 1 endpoints ready", "pod web-7c9f-x2x4l is waiting:
  // ImagePullBackOff (ghcr.io/x/web:v1)". Empty if there is nothing to add to the verdict.
  std::vector<std::string> causes;
  // A command such as "kubectl -n team describe pod web-7c9f-x2x4l", or empty.
  std::string next;
  // The object is not just slow: a container cannot start, or ends again and again. Such a cause is reported at once.
  bool grave = false;
  // A pod can never start as it is, so waiting is pointless.
  bool permanent = false;

  // Returns the causes as a chain for Error::because(), or nothing if there are none.
  std::optional<Error> error(ErrorKind kind) const;
  bool operator==(const Why&) const = default;
};

struct WhyOptions {
  // The start of the run, by the API server's clock. An older pod may be waiting for something that this run brings, so
  // its trouble never counts as permanent.
  std::optional<WallTime> begun;
};

using Objects = std::vector<const Json*>;

// True if the pod belongs to the workload (by selector and owner) or to the Service (by selector).
bool belongs(const Json& pod, const Json& workload);

// Explains a Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job or Pod. While a workload is
// being updated, only pods of its newest revision can make the result permanent.
Why why_not_ready(const Json& workload, const Objects& pods, const WhyOptions& options = {});

struct EndpointCount {
  size_t ready = 0;
  size_t all = 0;
  bool operator==(const EndpointCount&) const = default;
};
// Counts the endpoints in the slices of a Service. A pod with several addresses counts once.
EndpointCount count_endpoints(const Json& service, const Objects& slices);

// Explains why a Service has no ready endpoint. Returns no causes if it has one.
Why why_no_endpoints(const Json& service, const Objects& slices, const Objects& pods, const WhyOptions& options = {});

}  // namespace fairlead::readiness

// Why something is not ready, from the pods behind it: the chain of causes of a report, and what to look at next.
//
// Pure. Pods and EndpointSlices may be all of a namespace: what does not belong to the object is passed over. Texts are
// one line each, bounded, and hold nothing that a container wrote.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

namespace fairlead::readiness {

struct Why {
  // Outermost first: "service team/web has 0 of 1 endpoints ready", "pod web-7c9f-x2x4l is waiting: ImagePullBackOff
  // (ghcr.io/x/web:v1)". Empty where there is nothing to add to the verdict.
  std::vector<std::string> causes;
  // "kubectl -n team describe pod web-7c9f-x2x4l", or empty.
  std::string next;
  // More than slow: a container cannot start, or ends again and again. Worth telling at once.
  bool grave = false;
  // A pod can never start as it is: no use waiting.
  bool permanent = false;

  // The causes as a chain, for Error::because; nothing where there are none.
  std::optional<Error> error(ErrorKind kind) const;
  bool operator==(const Why&) const = default;
};

struct WhyOptions {
  // When the run began, by the API server's clock. What a pod from before it waits for may have come with this run, so
  // such a pod is no proof that it can never start.
  std::optional<WallTime> begun;
};

using Objects = std::vector<const Json*>;

// Whether the pod is one of that workload (by selector and owner), or of that Service (by selector).
bool belongs(const Json& pod, const Json& workload);

// For Deployment, StatefulSet, DaemonSet, ReplicaSet, Job and Pod. Of a workload that is being changed, only pods of
// its newest version are permanent evidence.
Why why_not_ready(const Json& workload, const Objects& pods, const WhyOptions& options = {});

struct EndpointCount {
  size_t ready = 0;
  size_t all = 0;
  bool operator==(const EndpointCount&) const = default;
};
// Of the slices of that Service; a pod with several addresses counts once.
EndpointCount count_endpoints(const Json& service, const Objects& slices);

// Why a Service has no endpoint that is ready; no causes if it has one.
Why why_no_endpoints(const Json& service, const Objects& slices, const Objects& pods, const WhyOptions& options = {});

}  // namespace fairlead::readiness

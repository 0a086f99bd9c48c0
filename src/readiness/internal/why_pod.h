// Finds out what keeps a single pod from being ready. For why.cc and verdict_pod.cc only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::readiness {

struct Trouble {
  // The kind of trouble, in ascending order of gravity. Among several pods, the one with the gravest trouble is
  // reported.
  enum class Weight { none, starting, not_ready, ended, held, backing_off, never };
  Weight weight = Weight::none;
  // The reason that the kubelet or the scheduler gives, such as "ImagePullBackOff". Pods with the same word have the
  // same trouble.
  std::string word;
  // Follows the name of the pod in a sentence: "is waiting: ImagePullBackOff (ghcr.io/x/web:v1)".
  std::string text;
  // The cause of the trouble, if it is known.
  std::string cause;
  std::string container;
  std::string image;
  // Which logs of the container tell more than the pod's description: those of the current or of the previous instance.
  enum class Logs { none, current, previous } logs = Logs::none;

  bool is_never() const { return weight == Weight::never; }
};

// Returns Weight::none for a pod that is ready or has succeeded.
Trouble trouble_of(const Json& pod);

// For example "kubectl -n team describe deployment web". Empty if a name has characters that do not belong in a name.
std::string describe_command(std::string_view resource, const Json& object);
// Returns the command that shows the logs if these tell more, else the one that describes the pod.
std::string next_command(const Json& pod, const Trouble& trouble);

}  // namespace fairlead::readiness

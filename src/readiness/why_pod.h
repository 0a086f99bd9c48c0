// What keeps a single pod from being ready. The parts of why.h and of the verdict on pods; nobody else looks in here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace fairlead::readiness {

struct Trouble {
  // How much it explains, for choosing among pods: the gravest first.
  enum class Weight { none, starting, not_ready, ended, held, backing_off, never };
  Weight weight = Weight::none;
  // What the kubelet or the scheduler calls it: "ImagePullBackOff". The same word is the same trouble.
  std::string word;
  // To follow the name of the pod: "is waiting: ImagePullBackOff (ghcr.io/x/web:v1)"
  std::string text;
  // What is behind it, if that is known.
  std::string cause;
  std::string container;
  std::string image;
  // Whose logs tell more than the pod's description: those of the container as it runs, or as it ran before.
  enum class Logs { none, current, previous } logs = Logs::none;

  bool is_never() const { return weight == Weight::never; }
};

// Weight::none for a pod that is ready or has succeeded.
Trouble trouble_of(const Json& pod);

// "kubectl -n team describe deployment web"; empty where the names could be anything but names.
std::string describe_command(std::string_view resource, const Json& object);
// The logs where they tell more, else the pod's description.
std::string next_command(const Json& pod, const Trouble& trouble);

}  // namespace fairlead::readiness

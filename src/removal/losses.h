// What else goes with the targets: instances of CRDs and contents of namespaces that are not among them.
#pragma once

#include <string>
#include <vector>

#include "removal/run.h"
#include "removal/tracking.h"

namespace fairlead::removal {

struct Loss {
  // The CRD or Namespace, as a target.
  uint32_t container = 0;
  size_t count = 0;
  // A few of them: "Widget team/a"
  std::vector<std::string> named;
  // One of them is protected: "Widget team/a"; empty if none is.
  std::string guarded;
  // Of a namespace: those that a controller has to clean up, as targets.
  std::vector<Target> carrying;
  // Some kinds could not be looked at, or are too many.
  bool incomplete = false;

  // "CustomResourceDefinition widgets.example.com: 12 instances of it that are not among these: Widget a/b, …"
  std::string text(const Run& run) const;
};

// Instances are known from watches; the contents of namespaces cost a list a kind, of a bounded number of kinds.
Task<std::vector<Loss>> find_losses(Run& run, const Tracker& tracker);

}  // namespace fairlead::removal

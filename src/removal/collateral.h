// What else goes with the targets: instances of CRDs and contents of namespaces that are not among them.
#pragma once

#include <string>
#include <vector>

#include "removal/run.h"
#include "removal/tracking.h"

namespace fairlead::removal {

struct Collateral {
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
  // Of these, what others made (makers.h): how many, and some of them: "ConfigMap team/a of bundle two, namespace x".
  size_t foreign = 0;
  std::vector<std::string> foreign_named;
  // How many of those belong to other bundles.
  size_t of_bundles = 0;
  // A kind that could not be looked at.
  std::string unread;

  // "CustomResourceDefinition widgets.example.com: 12 instances of it that are not among these: Widget a/b, …"
  std::string text(const Run& run) const;
  // "2 objects of others would go with it: ConfigMap team/a of bundle two, namespace x, Secret team/b"
  std::string foreign_text() const;
};

// Instances are known from watches; the contents of namespaces cost a list per kind: of a bounded number of kinds, or
// of all kinds where the members of a bundle are removed, since others must not lose anything to that.
Task<std::vector<Collateral>> find_collateral(Run& run, const Tracker& tracker);

}  // namespace fairlead::removal

// Finds the objects that are deleted with the targets and are not among them: instances of CRDs and contents of
// namespaces.
#pragma once

#include <string>
#include <vector>

#include "removal/internal/tracking.h"
#include "removal/run.h"

namespace fairlead::removal {

// The objects that are deleted with one CRD or Namespace and are not among the targets.
struct Collateral {
  // The CRD or Namespace, which is a target.
  NodeId container;
  size_t count = 0;
  // The names of a few of them: "Widget team/a"
  std::vector<std::string> named;
  // The name of one that is protected: "Widget team/a"; empty if none is.
  std::string guarded;
  // For a namespace: the objects with finalizers that a controller has to remove, as targets.
  std::vector<Target> carrying;
  // Some kinds could not be listed, or there were too many kinds to list.
  bool incomplete = false;
  // The objects that others made (provenance.h): how many, and the names of some: "ConfigMap team/a of bundle two,
  // namespace x".
  size_t foreign = 0;
  std::vector<std::string> foreign_named;
  // How many of those belong to other bundles.
  size_t of_bundles = 0;
  // A kind that could not be listed; empty if there is none.
  std::string unread;

  // "CustomResourceDefinition widgets.example.com: 12 more objects will be deleted with it: Widget a/b, …"
  std::string text(const Run& run) const;
  // "2 objects of others would be deleted with it: ConfigMap team/a of bundle two, namespace x, Secret team/b"
  std::string foreign_text() const;
};

// Finds the collateral of every CRD and Namespace among the targets. Instances are known from watches. The contents of
// namespaces cost one LIST per kind: for a limited number of kinds, or for all kinds if members of a bundle are
// deleted, because others must not lose anything then.
Task<std::vector<Collateral>> find_collateral(kube::Client& client, kube::Discovery& discovery, Run& run,
                                              const Tracker& tracker);

}  // namespace fairlead::removal

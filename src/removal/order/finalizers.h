// A table of well-known finalizers, with the controllers that remove them.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::removal {

// The finalizer of CRDs. The API server takes it off when all instances are deleted.
inline constexpr std::string_view kInstancesFinalizer = "customresourcecleanup.apiextensions.k8s.io";

struct FinalizerOwner {
  // For people: "the garbage collector of kube-controller-manager", "cert-manager"
  std::string_view owner;
  // The name of its Deployment or StatefulSet; empty for parts of Kubernetes itself.
  std::string_view workload;
  // What the finalizer waits for, or what is left behind without it: "the records of an ACME challenge"
  std::string_view leaves;

  // True if Kubernetes' own controllers remove it. Then it is no reason to delete the object before others.
  bool is_kubernetes() const { return workload.empty(); }
};

// Returns null if the finalizer is not in the table.
const FinalizerOwner* find_finalizer(std::string_view finalizer);
// Returns a word that may be in the name of the controller: "example" for "widgets.example.com/cleanup",
// "external-secrets" for "externalsecrets.external-secrets.io/x".
std::string domain_of(std::string_view finalizer);

// True if the object has a finalizer that a controller outside Kubernetes itself has to remove.
bool has_foreign_finalizer(const Json& object);

}  // namespace fairlead::removal

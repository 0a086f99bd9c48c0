// Finalizers that are known, and who removes them.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::removal {

struct FinalizerOwner {
  // For people: "the garbage collector of the cluster", "cert-manager"
  std::string_view owner;
  // What its Deployment or StatefulSet is called; empty for parts of Kubernetes itself.
  std::string_view workload;
  // What it waits for, or what is left behind without it: "the DNS records of the Ingress"
  std::string_view leaves;

  // Removed by Kubernetes' own controllers: not a reason to go before others.
  bool is_kubernetes() const { return workload.empty(); }
};

// Null for one that is not known.
const FinalizerOwner* find_finalizer(std::string_view finalizer);
// "widgets" of "widgets.example.com/cleanup", "external-secrets" of "externalsecrets.external-secrets.io/x": words that
// may be in the name of the controller.
std::string domain_of(std::string_view finalizer);

// An object carries one that a controller has to remove which is no part of Kubernetes itself.
bool has_foreign_finalizer(const Json& object);

}  // namespace fairlead::removal

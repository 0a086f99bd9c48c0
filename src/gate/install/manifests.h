// The objects that install the gate: what `fairlead gate manifests` prints and `fairlead gate install` rolls out.
//
// This is the room's first header. The room is pure. The gate's webhook configurations are not among the objects: the
// gate makes them itself, because they depend on the CRDs and webhooks of the cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::gate {

struct InstallSettings {
  // Of the Deployment, Service, ServiceAccount and roles.
  std::string name = "fairlead-gate";
  std::string ns = "fairlead-gate";
  std::string image;
  std::string pull_policy = "IfNotPresent";
  int64_t replicas = 2;
  // Of its pods; empty for none.
  std::string priority_class = "system-cluster-critical";
  // For `fairlead gate serve`; empty for its defaults.
  std::string patience;
  std::string patience_gone;
  std::string patience_service_accounts;
  // The API server proves webhooks, where calls of the gate do not. It is sent dry runs of RuntimeClasses.
  bool shadows = false;
  bool has_namespace = true;
};

// Fails if a name cannot be one.
Result<void> check(const InstallSettings& settings);

// In the order in which they can be created. Requires settings that check() accepts.
std::vector<Json> manifests(const InstallSettings& settings);

}  // namespace fairlead::gate

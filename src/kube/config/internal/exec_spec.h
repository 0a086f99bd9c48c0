// The `exec` of a kubeconfig's user, read. For kubeconfig_resolve.cc only.
#pragma once

#include "kube/config/cluster_config.h"
#include "kube/config/internal/kubeconfig_section.h"

namespace fairlead::kube {

// `info` is what a plugin that asks for it is told about the cluster.
Result<ExecPlugin> read_exec(const Section& user, const Json& info);

// `auth-provider` is gone from Kubernetes: what to do instead.
Error auth_provider_error(const Section& user);

}  // namespace fairlead::kube

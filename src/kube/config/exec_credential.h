// What is said to a credential plugin, and what it says (client.authentication.k8s.io): pure, no process here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "kube/config/cluster_config.h"

namespace fairlead::kube {

struct ExecCredential {
  std::string token;
  std::string certificate_pem;
  std::string key_pem;
  std::optional<WallTime> expires;
};

// The value of KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecPlugin& plugin, bool interactive);

// Errors never quote what the plugin wrote.
Result<ExecCredential> read_exec_credential(const ExecPlugin& plugin, std::string_view output);

}  // namespace fairlead::kube

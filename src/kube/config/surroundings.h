// What a process finds around itself: environment, files, the time of day. Replaced in tests.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace fairlead::kube {

struct Surroundings {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  // The whole file; an error of kind `not_found` if it is not there. The error names the reason, not the file.
  std::function<Result<std::string>(const std::string& path)> read_file;
  std::function<WallTime()> now;
  // Where a pod finds its service account.
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";

  static Surroundings real();
};

}  // namespace fairlead::kube

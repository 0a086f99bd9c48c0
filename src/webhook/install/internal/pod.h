// What the pods of the Deployment and of the hook Jobs have in common.
#pragma once

#include "webhook/install/internal/settings.h"

namespace fairlead::webhook::install {

// A pod with one container, which runs `fairlead` with these arguments as a user without rights.
Json pod_spec(const Settings& settings, const std::string& account, Json container);
Json container(const Image& image, const std::vector<std::string>& arguments);

// `fairlead webhook serve`, or `fairlead webhook controller`.
std::vector<std::string> server_arguments(const Settings& settings);

}  // namespace fairlead::webhook::install

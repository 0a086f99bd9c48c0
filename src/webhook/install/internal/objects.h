// The objects that are installed, made of settings. Each function returns those of one concern.
#pragma once

#include <vector>

#include "webhook/install/internal/settings.h"

namespace fairlead::webhook::install {

using Objects = std::vector<Json>;

Objects definitions();
// The service account and its roles.
Objects access(const Settings& settings);
// Issuers and Certificates of cert-manager.
Objects certificates(const Settings& settings);
// The Deployment with its Service, budget and network policy.
Objects workload(const Settings& settings);
// The ValidatingWebhookConfiguration.
Objects configuration(const Settings& settings);
// The Jobs that Helm runs before and after, with what they need.
Objects hooks(const Settings& settings);

// An object of this release. Without a namespace it is an object of the cluster.
Json object(const Settings& settings, std::string_view api_version, std::string_view kind, const std::string& name,
            const std::string& ns);
Json::Object selector_labels(const Settings& settings);
Json strings(std::initializer_list<std::string_view> texts);

}  // namespace fairlead::webhook::install

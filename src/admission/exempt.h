// Which resources meet no webhook or no policy, whatever the rules of those say. The API server decides this first.
#pragma once

#include <string_view>

#include "admission/attributes.h"

namespace fairlead::admission {

// True for the reviews of users and rights: questions that are answered and never stored. The API server excludes them
// from policies, so that admission cannot lock everybody out of a cluster.
bool is_virtual_review(std::string_view group, std::string_view resource);

// True for webhook configurations, policies and their bindings, so that they can always be deleted, and for reviews.
// API servers before 1.37 do call webhooks for reviews. This function does not ask for the version: a bundle holds no
// reviews, and the probes of Fairlead use none.
bool is_exempt_from_webhooks(const GroupVersionResource& resource);

// True for policies, their bindings, and reviews. Webhook configurations do meet policies.
bool is_exempt_from_policies(const GroupVersionResource& resource);

}  // namespace fairlead::admission

#include "admission/exempt.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fairlead::admission {
namespace {

constexpr std::string_view kRegistration = "admissionregistration.k8s.io";

bool is_policy_or_binding(const GroupVersionResource& resource) {
  static constexpr std::array<std::string_view, 4> kResources = {
      "validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
      "mutatingadmissionpolicybindings"};
  return resource.group == kRegistration && std::ranges::find(kResources, resource.resource) != kResources.end();
}

}  // namespace

bool is_virtual_review(std::string_view group, std::string_view resource) {
  using Review = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Review, 6> kReviews = {Review{"authentication.k8s.io", "selfsubjectreviews"},
                                                     Review{"authentication.k8s.io", "tokenreviews"},
                                                     Review{"authorization.k8s.io", "localsubjectaccessreviews"},
                                                     Review{"authorization.k8s.io", "selfsubjectaccessreviews"},
                                                     Review{"authorization.k8s.io", "selfsubjectrulesreviews"},
                                                     Review{"authorization.k8s.io", "subjectaccessreviews"}};
  return std::ranges::find(kReviews, Review(group, resource)) != kReviews.end();
}

bool is_exempt_from_webhooks(const GroupVersionResource& resource) {
  bool is_configuration = resource.group == kRegistration && (resource.resource == "validatingwebhookconfigurations" ||
                                                              resource.resource == "mutatingwebhookconfigurations");
  return is_configuration || is_policy_or_binding(resource) || is_virtual_review(resource.group, resource.resource);
}

bool is_exempt_from_policies(const GroupVersionResource& resource) {
  return is_policy_or_binding(resource) || is_virtual_review(resource.group, resource.resource);
}

}  // namespace fairlead::admission

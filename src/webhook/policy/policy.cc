#include "webhook/policy/policy.h"

#include <algorithm>

namespace fairlead::webhook {

namespace {

// "nvidia-com-v1alpha1-dynamomodel"
std::string path_words(const admission::GroupVersionKind& kind) {
  std::string words = kind.group + "-" + kind.version + "-" + kind.kind;
  std::ranges::replace(words, '.', '-');
  std::ranges::transform(words, words.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return words;
}

}  // namespace

Decision allow() { return {}; }

Decision deny(std::string message) { return {.allowed = false, .message = std::move(message)}; }

Result<Decision> Policy::validate_create(const Request&) const { return allow(); }

Result<Decision> Policy::validate_update(const Request&) const { return allow(); }

Result<Decision> Policy::validate_delete(const Request&) const { return allow(); }

Result<Json> Policy::mutate(const Request& request) const { return request.object; }

Result<Decision> validate(const Policy& policy, const Request& request) {
  switch (request.operation) {
    case admission::Operation::create: return policy.validate_create(request);
    case admission::Operation::update: return policy.validate_update(request);
    case admission::Operation::remove: return policy.validate_delete(request);
    case admission::Operation::connect: break;
  }
  return allow();
}

std::string validating_path(const Registration& registration) { return "/validate-" + path_words(registration.kind); }

std::string mutating_path(const Registration& registration) { return "/mutate-" + path_words(registration.kind); }

}  // namespace fairlead::webhook

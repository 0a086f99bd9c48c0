// Reads the reviews that an API server sends to a webhook, and writes the answers to them.
//
// This is the room's first header. The room is pure: text in, text out. What it reads is hostile: anybody who reaches
// the port can send anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "admission/review.h"
#include "base/error.h"
#include "base/json.h"
#include "webhook/policy/policy.h"

namespace fairlead::webhook {

// The most values (objects and lists included) that a review may have. Objects of a few MB have some 100,000; each
// takes about 100 bytes of memory.
inline constexpr size_t kMaxValues = 400'000;

struct AdmissionReview {
  admission::ReviewVersion version = admission::ReviewVersion::v1;
  Request request;
};

// An error says what is wrong with the review, of kind `invalid`, `protocol` (a version that is not spoken here) or
// `limit`. It never quotes the object in it.
Result<AdmissionReview> read_admission_review(std::string_view body);

// The whole answer. A patch that is neither null nor empty goes with it; only mutating webhooks may have one.
std::string write_admission_answer(const AdmissionReview& review, const Decision& decision, const Json& patch = {});

// The warnings as the API server takes them. It would drop those with control characters or bad UTF-8 without a word:
// such characters are replaced. Empty ones and repeated ones are left out.
std::vector<std::string> clean_warnings(const std::vector<std::string>& warnings);

struct ConversionReview {
  // "apiextensions.k8s.io/v1" or "apiextensions.k8s.io/v1beta1".
  std::string api_version;
  std::string uid;
  // "nvidia.com/v1beta1"
  std::string desired_api_version;
  Json::Array objects;
};

// As read_admission_review().
Result<ConversionReview> read_conversion_review(std::string_view body);

// The whole answer: the converted objects in the same order, or why there are none.
std::string write_conversion_answer(const ConversionReview& review, const Result<Json::Array>& converted);

}  // namespace fairlead::webhook

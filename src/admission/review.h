// AdmissionReviews, v1 and v1beta1: the request that a webhook gets, and every check that its answer has to pass.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/attributes.h"
#include "admission/criteria.h"
#include "base/json.h"

namespace fairlead::admission {

enum class ReviewVersion { v1, v1beta1 };

// The first of a webhook's admissionReviewVersions that the API server speaks.
std::optional<ReviewVersion> choose_version(const std::vector<std::string>& versions);

// `object` and `old_object` are in the version of the target.
Json review_request(ReviewVersion version, std::string_view uid, const Attributes& attributes, const Target& target,
                    const Json& object, const Json& old_object);

// What came back over HTTP, whatever it was.
struct Answer {
  int http = 0;
  std::string content_type;
  std::string body;
};

struct Response {
  bool allowed = false;
  // The Status that it gave; null if none.
  Json status;
  // Decoded; empty if there is none. Only "JSONPatch" can be applied.
  std::string patch;
  std::string patch_type;
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> audit_annotations;
};

// Otherwise what is wrong, as the tail of "failed calling webhook".
std::expected<Response, std::string> read_answer(ReviewVersion version, std::string_view uid, bool mutating,
                                                 const Answer& answer);

}  // namespace fairlead::admission

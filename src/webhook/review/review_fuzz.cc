// Reviews from hostile text: whatever can be read can be answered, and the API server takes the answer.
#include <cstdint>
#include <cstdlib>

#include "base/json_diff.h"
#include "webhook/review/review.h"

using namespace fairlead;

namespace {

void admit(std::string_view text) {
  Result<webhook::AdmissionReview> review = webhook::read_admission_review(text);
  if (!review) return;
  webhook::Decision denied = webhook::deny(review->request.name);
  denied.warnings = {review->request.ns, review->request.user.name};
  denied.audit_annotations = {{"user", review->request.user.name}};
  Json patch = json_patch_between(review->request.old_object, review->request.object);
  for (const std::string& answer : {webhook::write_admission_answer(*review, denied),
                                    webhook::write_admission_answer(*review, webhook::allow(), patch)}) {
    admission::Answer over_http{.http = 200, .content_type = "application/json", .body = answer};
    if (!admission::read_answer(review->version, review->request.uid, true, over_http)) std::abort();
  }
}

void convert(std::string_view text) {
  Result<webhook::ConversionReview> review = webhook::read_conversion_review(text);
  if (!review) return;
  Json answer = Json::parse(webhook::write_conversion_answer(*review, review->objects)).value();
  if (answer["response"]["convertedObjects"].items() != review->objects) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  admit(text);
  convert(text);
  return 0;
}

// What a webhook may answer. The first byte says how it is asked, the rest is the body.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "admission/go_json.h"
#include "admission/review.h"
#include "base/json_patch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead;
  if (size == 0) return 0;
  std::string body(reinterpret_cast<const char*>(data + 1), size - 1);
  // Whatever reads as JSON here has a syntax that Go takes as well.
  Result<Json> json = Json::parse(body);
  if (json && admission::go_syntax_error(body)) std::abort();
  admission::ReviewVersion version =
      (data[0] & 1) != 0 ? admission::ReviewVersion::v1beta1 : admission::ReviewVersion::v1;
  bool mutating = (data[0] & 2) != 0;
  int http = (data[0] & 4) != 0 ? 500 : 200;
  auto response = admission::read_answer(version, "u", mutating,
                                         {.http = http, .content_type = "text/plain", .body = std::move(body)});
  if (!response) {
    if (response.error().empty()) std::abort();
    return 0;
  }
  if (!mutating && !response->patch.empty()) std::abort();
  Result<Json> patch = Json::parse(response->patch);
  if (!patch) return 0;
  Json object = Json::Object{{"metadata", Json::Object{{"name", "x"}}}, {"list", Json::Array{1, 2, 3}}};
  Result<Json> patched = apply_json_patch(object, *patch);
  Result<Json> merged = apply_merge_patch(object, *patch);
  if (patched && patched->dump().empty()) std::abort();
  if (merged && merged->dump().empty()) std::abort();
  return 0;
}

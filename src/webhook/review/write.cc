#include <algorithm>

#include "base/base64.h"
#include "base/printable.h"
#include "webhook/review/review.h"

namespace fairlead::webhook {
namespace {

std::string_view reason_of(int code) {
  switch (code) {
    case 400: return "BadRequest";
    case 403: return "Forbidden";
    case 404: return "NotFound";
    case 409: return "Conflict";
    case 422: return "Invalid";
    case 429: return "TooManyRequests";
    default: return code >= 500 ? "InternalError" : "";
  }
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  out.append(",\"").append(key).append("\":");
  append_json_string(out, text);
}

// The API server makes 400 of anything below.
void append_status(std::string& out, const Decision& decision) {
  int code = std::max(decision.code, 400);
  fmt::format_to(std::back_inserter(out), R"(,"status":{{"status":"Failure","code":{})", code);
  append_member(out, "message", printable(decision.message));
  if (std::string_view reason = reason_of(code); !reason.empty()) append_member(out, "reason", reason);
  if (decision.retry_after_seconds > 0)
    fmt::format_to(std::back_inserter(out), R"(,"details":{{"retryAfterSeconds":{}}})", decision.retry_after_seconds);
  out += '}';
}

void append_warnings(std::string& out, const std::vector<std::string>& warnings) {
  out.append(",\"warnings\":[");
  for (size_t i = 0; i < warnings.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, warnings[i]);
  }
  out += ']';
}

void append_annotations(std::string& out, const Decision& decision) {
  Json::Object annotations;
  for (const auto& [key, value] : decision.audit_annotations) annotations[printable_line(key)] = printable(value);
  out.append(",\"auditAnnotations\":");
  Json(std::move(annotations)).append_to(out);
}

// On one line, in characters that a header can have.
std::string clean(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return printable_line(line);
}

}  // namespace

std::vector<std::string> clean_warnings(const std::vector<std::string>& warnings) {
  std::vector<std::string> cleaned;
  for (const std::string& warning : warnings) {
    std::string text = clean(warning);
    if (!text.empty() && std::ranges::find(cleaned, text) == cleaned.end()) cleaned.push_back(std::move(text));
  }
  return cleaned;
}

std::string write_admission_answer(const AdmissionReview& review, const Decision& decision, const Json& patch) {
  bool is_v1 = review.version == admission::ReviewVersion::v1;
  std::string out;
  out.reserve(256);
  out.append(R"({"apiVersion":"admission.k8s.io/)").append(is_v1 ? "v1" : "v1beta1");
  out.append(R"(","kind":"AdmissionReview","response":{"uid":)");
  append_json_string(out, review.request.uid);
  out.append(decision.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)");
  if (!decision.allowed) append_status(out, decision);
  if (std::vector<std::string> warnings = clean_warnings(decision.warnings); !warnings.empty())
    append_warnings(out, warnings);
  if (!decision.audit_annotations.empty()) append_annotations(out, decision);
  if (decision.allowed && !patch.items().empty()) {
    append_member(out, "patch", to_base64(patch.dump()));
    append_member(out, "patchType", "JSONPatch");
  }
  return out.append("}}");
}

std::string write_conversion_answer(const ConversionReview& review, const Result<Json::Array>& converted) {
  std::string out = R"({"kind":"ConversionReview")";
  append_member(out, "apiVersion", review.api_version);
  out.append(R"(,"response":{"uid":)");
  append_json_string(out, review.uid);
  if (converted) {
    out.append(R"(,"result":{"status":"Success"},"convertedObjects":[)");
    for (size_t i = 0; i < converted->size(); ++i) {
      if (i > 0) out += ',';
      (*converted)[i].append_to(out);
    }
    out += ']';
  } else {
    out.append(R"(,"result":{"status":"Failure")");
    append_member(out, "message", printable(converted.error().message()));
    out += '}';
  }
  return out.append("}}");
}

}  // namespace fairlead::webhook

#include "admission/review.h"

#include <algorithm>

#include "admission/go_json.h"
#include "admission/internal/status.h"
#include "base/base64.h"
#include "base/go_kind.h"
#include "base/go_quoted.h"

namespace fairlead::admission {
namespace {

constexpr std::string_view kGroup = "admission.k8s.io";
// What the API server's decoder calls itself in its errors; it is part of the words.
constexpr std::string_view kScheme = "pkg/util/webhook/client.go:74";
constexpr size_t kMaxQuoted = 2048;

std::string_view name_of(ReviewVersion version) { return version == ReviewVersion::v1 ? "v1" : "v1beta1"; }

bool is_text(std::string_view content_type) {
  if (content_type.empty()) return true;
  std::string type(trimmed(content_type.substr(0, content_type.find(';'))));
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return type.starts_with("text/");
}

// An HTTP status other than 2xx, as the server's own client puts it.
std::string http_error(const Answer& answer) {
  if (Result<Json> status = Json::parse(answer.body); status && (*status)["kind"].string_or("") == "Status" &&
                                                      (*status)["apiVersion"].string_or("") == "v1" &&
                                                      (*status)["status"].string_or("") == "Failure")
    return std::string((*status)["message"].string_or(""));
  std::string_view body = std::string_view(answer.body).substr(0, kMaxQuoted);
  std::string said(is_text(answer.content_type) ? trimmed(body) : "unknown");
  switch (answer.http) {
    case 400: return "the server rejected our request for an unknown reason";
    case 401: return "the server has asked for the client to provide credentials";
    case 403:
    case 415: return said;
    case 404: return "the server could not find the requested resource";
    case 405: return "the server does not allow this method on the requested resource";
    case 406:
      if (!said.empty() && said != "unknown") return said;
      return "the server was unable to respond with a content type that the client supports";
    case 409: return "the server reported a conflict";
    case 422: return "the server rejected our request due to an error in our request";
    case 429: return "the server has received too many requests and has asked us to try again later";
    case 503: return "the server is currently unable to handle the request";
    case 504:
      return "the server was unable to return a response in the time allotted, but may still be processing the request";
    default: break;
  }
  if (answer.http >= 500)
    return fmt::format("an error on the server ({}) has prevented the request from succeeding", go_quoted(said));
  return fmt::format("the server responded with the status code {} but did not return more information", answer.http);
}

// What does not start as a JSON object is read as YAML, where nearly everything is a text.
Json as_yaml_scalar(std::string_view body) {
  if (Result<Json> json = Json::parse(body)) return *std::move(json);
  if (body.starts_with('[') || body.starts_with("- ")) return Json::Array();
  return body;
}

using Text = std::expected<void, std::string>;

// A field whose type is wrong, in Go's words.
std::unexpected<std::string> wrong_type(const Json& value, std::string_view owner, std::string_view path,
                                        std::string_view type) {
  return std::unexpected(fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", go_kind(value),
                                     owner, path, type));
}

Text check_object(const Json& value, std::string_view owner, std::string_view path, std::string_view type) {
  if (value.is_null() || value.is_object()) return {};
  return wrong_type(value, owner, path, type);
}

Text check_text(const Json& value, std::string_view owner, std::string_view path, std::string_view type) {
  if (value.is_null() || value.is_string()) return {};
  return wrong_type(value, owner, path, type);
}

Text check_status(const Json& status) {
  constexpr std::string_view kOwner = "Status";
  TRY(check_object(status, "AdmissionResponse", "response.status", "v1.Status"));
  TRY(check_object(status["metadata"], kOwner, "response.status.metadata", "v1.ListMeta"));
  TRY(check_text(status["status"], kOwner, "response.status.status", "string"));
  TRY(check_text(status["message"], kOwner, "response.status.message", "string"));
  TRY(check_text(status["reason"], kOwner, "response.status.reason", "v1.StatusReason"));
  TRY(check_object(status["details"], kOwner, "response.status.details", "v1.StatusDetails"));
  const Json& code = status["code"];
  if (code.is_null()) return {};
  if (const int64_t* number = code.if_int64(); number != nullptr && *number >= INT32_MIN && *number <= INT32_MAX)
    return {};
  if (!code.is_number()) return wrong_type(code, kOwner, "response.status.code", "int32");
  return std::unexpected(fmt::format(
      "json: cannot unmarshal number {} into Go struct field Status.response.status.code of type int32", code.dump()));
}

Text check_response(const Json& response, ReviewVersion version) {
  constexpr std::string_view kOwner = "AdmissionResponse";
  TRY(check_object(response, "AdmissionReview", "response", fmt::format("{}.AdmissionResponse", name_of(version))));
  TRY(check_text(response["uid"], kOwner, "response.uid", "types.UID"));
  if (const Json& allowed = response["allowed"]; !allowed.is_null() && !allowed.is_bool())
    return wrong_type(allowed, kOwner, "response.allowed", "bool");
  TRY(check_status(response["status"]));
  TRY(check_text(response["patch"], kOwner, "response.patch", "[]uint8"));
  TRY(check_text(response["patchType"], kOwner, "response.patchType", fmt::format("{}.PatchType", name_of(version))));
  TRY(check_object(response["auditAnnotations"], kOwner, "response.auditAnnotations", "map[string]string"));
  for (const auto& [key, value] : response["auditAnnotations"].members())
    TRY(check_text(value, kOwner, "response.auditAnnotations", "string"));
  if (const Json& warnings = response["warnings"]; !warnings.is_null() && !warnings.is_array())
    return wrong_type(warnings, kOwner, "response.warnings", "[]string");
  for (const Json& warning : response["warnings"].items())
    TRY(check_text(warning, kOwner, "response.warnings", "string"));
  return {};
}

// Where Go stops: at the first character that does not belong there, or at the start of the last group if that is
// short.
size_t flaw_in_base64(std::string_view text) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t in_group = 0;
  size_t group = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' || text[i] == '\r') continue;
    if (in_group == 0) group = i;
    if (text[i] == '=' && in_group >= 2) {
      // Padding ends it.
      size_t end = i + 1;
      if (in_group == 2 && end < text.size() && text[end] == '=') ++end;
      return std::min(end, text.size());
    }
    if (kAlphabet.find(text[i]) == std::string_view::npos) return i;
    in_group = (in_group + 1) % 4;
  }
  return group;
}

struct Read {
  Json review;
  std::string api_version;
  std::string kind;
};

std::expected<Read, std::string> read_review(const Answer& answer) {
  constexpr std::string_view kNoKind = "couldn't get version/kind; json parse error: ";
  std::string_view body = answer.body;
  if (body.empty())
    return std::unexpected(
        fmt::format("0-length response with status code: {} and content type: {}", answer.http, answer.content_type));
  std::string_view content = trimmed(body);
  Read read;
  if (!content.starts_with('{')) {
    read.review = as_yaml_scalar(content);
    if (content.empty()) read.review = Json();
    if (!read.review.is_null() && !read.review.is_object())
      return std::unexpected(
          fmt::format("{}json: cannot unmarshal {} into Go value of type struct {{ APIVersion string "
                      "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
                      kNoKind, go_kind(read.review)));
  } else if (Result<Json> json = Json::parse(body)) {
    read.review = *std::move(json);
  } else if (std::optional<std::string> error = go_syntax_error(body)) {
    return std::unexpected(fmt::format("{}{}", kNoKind, *error));
  } else {
    // Right for Go, but with keys that come twice, or nested without end.
    return std::unexpected(fmt::format("{}{}", kNoKind, json.error().what()));
  }
  for (std::string_view field : {"apiVersion", "kind"}) {
    Text checked = check_text(read.review[field], "", field, "string");
    if (!checked) return std::unexpected(fmt::format("{}{}", kNoKind, checked.error()));
  }
  read.api_version = read.review["apiVersion"].string_or("");
  read.kind = read.review["kind"].string_or("");
  if (std::count(read.api_version.begin(), read.api_version.end(), '/') > 1)
    return std::unexpected(fmt::format("unexpected GroupVersion string: {}", read.api_version));
  return read;
}

// What is left out is taken to be what was asked for.
Text check_kind(ReviewVersion version, const Read& read) {
  std::string wanted = fmt::format("{}/{}", kGroup, name_of(version));
  std::string api_version = read.api_version.empty() ? wanted : read.api_version;
  std::string kind = read.kind.empty() ? "AdmissionReview" : read.kind;
  if (api_version == wanted && kind == "AdmissionReview") return {};
  bool other_review =
      kind == "AdmissionReview" && (api_version == "admission.k8s.io/v1" || api_version == "admission.k8s.io/v1beta1");
  bool status = kind == "Status" && api_version == "v1";
  if (other_review || status) {
    std::string_view from = status ? "v1" : std::string_view(api_version).substr(kGroup.size() + 1);
    return std::unexpected(
        fmt::format("converting ({}.{}) to ({}.AdmissionReview): unknown conversion", from, kind, name_of(version)));
  }
  return std::unexpected(fmt::format("no kind {} is registered for version {} in scheme {}", go_quoted(kind),
                                     go_quoted(api_version), go_quoted(kScheme)));
}

// "admission.k8s.io/v1, Kind=AdmissionReview"
std::string group_version_kind(const Read& read) {
  size_t slash = read.api_version.find('/');
  std::string_view version = read.api_version;
  return fmt::format("{}/{}, Kind={}", slash == std::string::npos ? "" : version.substr(0, slash),
                     slash == std::string::npos ? version : version.substr(slash + 1), read.kind);
}

std::expected<Response, std::string> verify(ReviewVersion version, std::string_view uid, bool mutating,
                                            const Read& read, std::string patch) {
  const Json& response = read.review["response"];
  Response result;
  result.allowed = response["allowed"].bool_or(false);
  result.status = response["status"];
  for (const Json& warning : response["warnings"].items()) result.warnings.emplace_back(warning.string_or(""));
  for (const auto& [key, value] : response["auditAnnotations"].members())
    result.audit_annotations.emplace_back(key, value.string_or(""));
  if (version == ReviewVersion::v1beta1) {
    // Nothing was checked in those days.
    if (mutating && !patch.empty()) {
      result.patch = std::move(patch);
      result.patch_type = "JSONPatch";
    }
    return result;
  }
  auto wrong = [](std::string what) { return std::unexpected(std::move(what)); };
  if (std::string_view got = response["uid"].string_or(""); got != uid)
    return wrong(fmt::format("expected response.uid={}, got {}", go_quoted(uid), go_quoted(got)));
  constexpr std::string_view kWanted = "admission.k8s.io/v1, Kind=AdmissionReview";
  if (std::string got = group_version_kind(read); got != kWanted)
    return wrong(fmt::format("expected webhook response of {}, got {}", kWanted, got));
  const std::string* type = response["patchType"].if_string();
  if (!mutating) {
    if (!patch.empty()) return wrong("validating webhook may not return response.patch");
    if (type != nullptr) return wrong("validating webhook may not return response.patchType");
    return result;
  }
  if (!patch.empty() && type == nullptr) return wrong("webhook returned response.patch but not response.patchType");
  if (patch.empty() && type != nullptr) return wrong("webhook returned response.patchType but not response.patch");
  if (type != nullptr && type->empty()) return wrong("webhook returned invalid response.patchType of \"\"");
  result.patch = std::move(patch);
  if (type != nullptr) result.patch_type = *type;
  return result;
}

}  // namespace

std::optional<ReviewVersion> choose_version(const std::vector<std::string>& versions) {
  for (const std::string& version : versions) {
    if (version == "v1") return ReviewVersion::v1;
    if (version == "v1beta1") return ReviewVersion::v1beta1;
  }
  return std::nullopt;
}

Json review_request(ReviewVersion version, std::string_view uid, const Attributes& attributes, const Target& target,
                    const Json& object, const Json& old_object) {
  Json fields = request_json(attributes, target.resource, target.kind);
  Json::Object request;
  request.append("uid", uid);
  for (auto& [key, value] : *fields.if_object()) {
    if (key == "dryRun") {
      request.append("object", object);
      request.append("oldObject", old_object);
    }
    request.append(std::move(key), std::move(value));
  }
  return Json::Object{{"kind", "AdmissionReview"},
                      {"apiVersion", fmt::format("{}/{}", kGroup, name_of(version))},
                      {"request", std::move(request)}};
}

std::expected<Response, std::string> read_answer(ReviewVersion version, std::string_view uid, bool mutating,
                                                 const Answer& answer) {
  auto call_failed = [](std::string_view what) {
    return std::unexpected(fmt::format("failed to call webhook: {}", what));
  };
  if (answer.http < 200 || answer.http > 206) return call_failed(http_error(answer));
  std::expected<Read, std::string> read = read_review(answer);
  if (!read) return call_failed(read.error());
  if (Text checked = check_kind(version, *read); !checked) return call_failed(checked.error());
  const Json& response = read->review["response"];
  if (Text checked = check_response(response, version); !checked) return call_failed(checked.error());
  std::string_view encoded = response["patch"].string_or("");
  std::optional<std::string> patch = from_base64(encoded);
  if (!patch) return call_failed(fmt::format("illegal base64 data at input byte {}", flaw_in_base64(encoded)));

  auto invalid = [](std::string_view what) {
    return std::unexpected(fmt::format("received invalid webhook response: {}", what));
  };
  if (response.is_null()) return invalid("webhook response was absent");
  std::expected<Response, std::string> verified = verify(version, uid, mutating, *read, *std::move(patch));
  if (!verified) return invalid(verified.error());
  return verified;
}

}  // namespace fairlead::admission

#include "admission/internal/status.h"

#include "base/go_quoted.h"

namespace fairlead::admission {
namespace {

Json failure(std::string_view message, std::string_view reason, Json details, int64_t code) {
  Json::Object status{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::Object()}, {"status", "Failure"}};
  status.append("message", message);
  if (!reason.empty()) status.append("reason", reason);
  if (!details.is_null()) status.append("details", std::move(details));
  status.append("code", code);
  return status;
}

}  // namespace

Json internal_error(std::string_view what) {
  Json details = Json::Object{{"causes", Json::Array{Json::Object{{"message", what}}}}};
  return failure(fmt::format("Internal error occurred: {}", what), "InternalError", std::move(details), 500);
}

Json bad_request(std::string_view what) { return failure(what, "BadRequest", Json(), 400); }

Json forbidden(const GroupVersionResource& resource, std::string_view name, std::string_view what) {
  std::string message = name.empty()
                            ? fmt::format("{} is forbidden: {}", resource.name_with_group(), what)
                            : fmt::format("{} {} is forbidden: {}", resource.name_with_group(), go_quoted(name), what);
  Json::Object details;
  if (!name.empty()) details.append("name", name);
  if (!resource.group.empty()) details.append("group", resource.group);
  details.append("kind", resource.resource);
  return failure(message, "Forbidden", std::move(details), 403);
}

Json namespace_not_found(std::string_view name) {
  return failure(fmt::format("namespaces {} not found", go_quoted(name)), "NotFound",
                 Json::Object{{"name", name}, {"kind", "namespaces"}}, 404);
}

Json request_timed_out() {
  return failure("Timeout: request did not complete within requested timeout", "Timeout", Json::Object(), 504);
}

std::string call_failure(std::string_view webhook, std::string_view tail) {
  return fmt::format("failed calling webhook {}: {}", go_quoted(webhook), tail);
}

Json call_failure_status(std::string_view webhook, std::string_view tail) {
  return internal_error(call_failure(webhook, tail));
}

Json no_dry_run_status(std::string_view webhook) {
  return bad_request(fmt::format("admission webhook {} does not support dry run", go_quoted(webhook)));
}

Json denial_status(std::string_view webhook, const Json& result) {
  std::string denied = fmt::format("admission webhook {} denied the request", go_quoted(webhook));
  std::string_view message = result["message"].string_or("");
  std::string_view reason = result["reason"].string_or("");
  std::string_view words = message.empty() ? reason : message;
  int64_t code = result["code"].int_or(0);
  std::string_view state = result["status"].string_or("");
  Json status = failure(words.empty() ? denied + " without explanation" : fmt::format("{}: {}", denied, words), reason,
                        result["details"], code < 400 ? 400 : code);
  if (!state.empty() && state != "Success") status.make("status") = state;
  if (result["metadata"].is_object()) status.make("metadata") = result["metadata"];
  return status;
}

std::string name_for_messages(const Attributes& attributes) {
  if (!attributes.name.empty()) return attributes.name;
  const Json& metadata = attributes.object["metadata"];
  for (std::string_view field : {"name", "generateName"})
    if (std::string_view name = metadata[field].string_or(""); !name.empty()) return std::string(name);
  return "Unknown";
}

}  // namespace fairlead::admission

#include "sandbox/core/status.h"

#include <fmt/format.h>

#include "base/go_quoted.h"

namespace fairlead::sandbox {
namespace {

Json details_of(const ResourceId& resource, std::string_view name) {
  Json::Object details;
  if (!name.empty()) details.append("name", name);
  if (!resource.group.empty()) details.append("group", resource.group);
  details.append("kind", resource.resource);
  return details;
}

}  // namespace

Json Status::to_json() const {
  Json::Object status{
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", metadata}, {"status", "Failure"}, {"message", message}};
  if (!reason.empty()) status.append("reason", reason);
  if (!details.is_null()) status.append("details", details);
  status.append("code", code);
  return status;
}

std::string qualified(const ResourceId& resource) {
  return resource.group.empty() ? resource.resource : resource.resource + "." + resource.group;
}

Cause required(std::string field, std::string_view detail) {
  return {"FieldValueRequired", std::move(field),
          detail.empty() ? "Required value" : fmt::format("Required value: {}", detail)};
}

Cause forbidden_field(std::string field, std::string_view detail) {
  return {"FieldValueForbidden", std::move(field), fmt::format("Forbidden: {}", detail)};
}

Cause invalid_value(std::string field, const Json& value, std::string_view detail) {
  return {"FieldValueInvalid", std::move(field), fmt::format("Invalid value: {}: {}", value.dump(), detail)};
}

Cause unsupported_value(std::string field, const Json& value, const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& one : supported) list += (list.empty() ? "" : ", ") + go_quoted(one);
  return {"FieldValueNotSupported", std::move(field),
          fmt::format("Unsupported value: {}: supported values: {}", value.dump(), list)};
}

Cause duplicate_value(std::string field, const Json& value) {
  return {"FieldValueDuplicate", std::move(field), fmt::format("Duplicate value: {}", value.dump())};
}

Status not_found(const ResourceId& resource, std::string_view name) {
  return {404, "NotFound", fmt::format("{} \"{}\" not found", qualified(resource), name), details_of(resource, name)};
}

Status already_exists(const ResourceId& resource, std::string_view name) {
  return {409, "AlreadyExists", fmt::format("{} \"{}\" already exists", qualified(resource), name),
          details_of(resource, name)};
}

Status conflict(const ResourceId& resource, std::string_view name, std::string_view why) {
  return {409, "Conflict",
          fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", qualified(resource), name, why),
          details_of(resource, name)};
}

Status forbidden(const ResourceId& resource, std::string_view name, std::string_view why) {
  std::string what = qualified(resource);
  if (!name.empty()) what += fmt::format(" \"{}\"", name);
  return {403, "Forbidden", fmt::format("{} is forbidden: {}", what, why), details_of(resource, name)};
}

Status invalid(std::string_view group, std::string_view kind, std::string_view name, const std::vector<Cause>& causes) {
  std::string qualified_kind = group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
  std::string message = fmt::format("{} {} is invalid", qualified_kind, go_quoted(name));
  Json::Array list;
  // Several causes are one list in brackets, and what is said twice is said once there.
  std::vector<std::string> texts;
  for (const Cause& cause : causes) {
    list.push_back(Json::Object{{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
    std::string text = fmt::format("{}: {}", cause.field, cause.message);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  if (texts.size() == 1) message += ": " + texts[0];
  else if (!texts.empty()) message += fmt::format(": [{}]", fmt::join(texts, ", "));
  Json::Object details;
  if (!name.empty()) details.append("name", name);
  if (!group.empty()) details.append("group", group);
  if (!kind.empty()) details.append("kind", kind);
  if (!list.empty()) details.append("causes", std::move(list));
  return {422, "Invalid", std::move(message), std::move(details)};
}

Status bad_request(std::string message) { return {400, "BadRequest", std::move(message), {}}; }

Status from_refusal(schema::Refusal refusal) {
  return {refusal.code, std::move(refusal.reason), std::move(refusal.message), std::move(refusal.details)};
}

Status method_not_allowed() {
  return {405, "MethodNotAllowed", "the server does not allow this method on the requested resource", Json::Object{}};
}

Status unknown_resource() {
  return {404, "NotFound", "the server could not find the requested resource", Json::Object{}};
}

Status page_not_found() { return {404, "", "404 page not found\n", {}, true}; }

Status internal_error(std::string message) {
  Json::Array causes{Json::Object{{"message", message}}};
  return {500, "InternalError", "Internal error occurred: " + message, Json::Object{{"causes", std::move(causes)}}};
}

Status bare_error(std::string message) { return {500, "", std::move(message), {}}; }

Status expired(std::string message) { return {410, "Expired", std::move(message), {}}; }

Status unauthorized() { return {401, "Unauthorized", "Unauthorized", {}}; }

Status not_implemented(std::string what) {
  return {501, "NotImplemented", fmt::format("the sandbox does not do this: {}", what), {}};
}

}  // namespace fairlead::sandbox

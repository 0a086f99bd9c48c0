#include "schema/types/refusal.h"

#include <fmt/format.h>

#include "base/go_quoted.h"
#include "fields/path_element.h"

namespace fairlead::schema {

Json Refusal::status() const {
  Json::Object out{{"kind", "Status"},
                   {"apiVersion", "v1"},
                   {"metadata", Json::Object()},
                   {"status", "Failure"},
                   {"message", message}};
  if (!reason.empty()) out.append("reason", reason);
  if (!details.is_null()) out.append("details", details);
  out.append("code", code);
  return out;
}

Refusal bad_request(std::string message) { return {400, "BadRequest", std::move(message), Json()}; }

Refusal bare_error(std::string message) { return {500, "", std::move(message), Json()}; }

Json dump_causes(const std::vector<Cause>& causes) {
  Json::Array out;
  for (const Cause& cause : causes)
    out.push_back(Json::Object{{"reason", cause.reason}, {"message", cause.message}, {"field", cause.field}});
  return out;
}

Refusal invalid(std::string_view group, std::string_view kind, std::string_view name,
                const std::vector<Cause>& causes) {
  std::string full = group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group);
  std::string what;
  for (const Cause& cause : causes) {
    if (!what.empty()) what += ", ";
    what += cause.field.empty() ? cause.message : cause.field + ": " + cause.message;
  }
  if (causes.size() > 1) what = "[" + what + "]";
  Json::Object details;
  if (!name.empty()) details.append("name", name);
  if (!group.empty()) details.append("group", group);
  details.append("kind", kind);
  details.append("causes", dump_causes(causes));
  return {422, "Invalid", fmt::format("{} {} is invalid: {}", full, go_quoted(name), what), std::move(details)};
}

}  // namespace fairlead::schema

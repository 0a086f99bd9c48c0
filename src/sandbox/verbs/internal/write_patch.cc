#include <fmt/format.h>

#include "base/go_kind.h"
#include "base/json_patch.h"
#include "sandbox/kinds/strategy.h"
#include "sandbox/kinds/types.h"
#include "sandbox/verbs/internal/write.h"
#include "schema/strategic.h"

namespace fairlead::sandbox {
namespace {

Status rejected_patch() {
  return {422, "Invalid", "the server rejected our request due to an error in our request", Json::Object{}};
}

Status undecodable(std::string_view why) { return bad_request(fmt::format("error decoding patch: {}", why)); }

Outcome<void> check_names(const Kind& kind, const Route& route, const Json& object) {
  std::string_view name = object["metadata"]["name"].string_or("");
  if (name != route.name)
    return refuse(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, route.name)));
  std::string_view ns = object["metadata"]["namespace"].string_or("");
  if (kind.namespaced && ns != route.ns)
    return refuse(bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  return {};
}

Outcome<Json::Lenient> parsed_patch(const Call& call) {
  if (const Json* value = std::get_if<Json>(&call.body)) return Json::Lenient{*value, {}};
  const std::string& text = std::get<std::string>(call.body);
  Result<Json::Lenient> value = Json::parse_lenient(text, Json::Repeats::last);
  if (!value) return refuse(bad_request("invalid JSON patch"));
  return *std::move(value);
}

std::string shown_kind(const Json& object) {
  std::string_view version = object["apiVersion"].string_or("");
  std::string prefix = version.find('/') == std::string_view::npos ? "/" : "";
  return fmt::format("{}{}, Kind={}", prefix, version, object["kind"].string_or(""));
}

Outcome<Json> checked_configuration(const Call& call, const Kind& kind) {
  Outcome<Json> parsed = parse_body(call);
  if (!parsed) return parsed;
  Json configuration = *std::move(parsed);
  if (configuration["apiVersion"].string_or("") != kind.api_version() ||
      configuration["kind"].string_or("") != kind.kind)
    return refuse(bad_request(fmt::format("invalid object type: {}", shown_kind(configuration))));
  configuration.make("metadata");
  return configuration;
}

// What is applied has to be what the path names; a name may be left out where there is an object already.
Outcome<void> check_configuration(const Kind& kind, const Route& route, const Json& configuration, bool is_new) {
  std::string_view name = configuration["metadata"]["name"].string_or("");
  if (name.empty() && is_new)
    return refuse(bad_request(
        fmt::format("the name of the object ({} based on URL) was undeterminable: name must be provided", route.name)));
  if (!name.empty() && name != route.name)
    return refuse(bad_request(
        fmt::format("the name of the object ({}) does not match the name on the URL ({})", name, route.name)));
  std::string_view ns = configuration["metadata"]["namespace"].string_or("");
  if (kind.namespaced && !ns.empty() && ns != route.ns)
    return refuse(bad_request("the namespace of the provided object does not match the namespace sent on the request"));
  return {};
}

Task<Outcome<Reply>> apply_patch(ApiServer& server, Call& call, const Kind& kind) {
  CO_TRY(check_write_options(call, "PatchOptions", true));
  CO_TRY_ASSIGN(Json configuration, checked_configuration(call, kind));
  const Core& core = server.core();
  std::string manager(call.route.query.get("fieldManager"));
  bool force = call.route.query.flag("force");
  std::string subresource = call.route.subresource;
  std::string version(configuration["metadata"]["resourceVersion"].string_or(""));
  configuration.make("metadata").if_object()->erase("resourceVersion");
  Change change;
  change.is_patch = true;
  change.make = [&](const Json& live) -> Outcome<Json> {
    TRY(check_configuration(kind, call.route, configuration, false));
    Outcome<Json> applied = apply_configuration(core, kind, subresource, &live, configuration, manager, force);
    if (!applied) return applied;
    if (!version.empty()) applied->make("metadata").make("resourceVersion") = version;
    return applied;
  };
  if (subresource.empty()) {
    change.create = [&]() -> Outcome<Json> {
      TRY(check_configuration(kind, call.route, configuration, true));
      if (std::string_view uid = configuration["metadata"]["uid"].string_or(""); !uid.empty())
        return refuse(
            conflict(kind.id(), call.route.name,
                     fmt::format("uid mismatch: the provided object specified uid {}, and no existing object was "
                                 "found",
                                 uid)));
      return apply_configuration(core, kind, subresource, nullptr, configuration, manager, force);
    };
  }
  Target target{kind, {call.route.ns, call.route.name}, subresource};
  CO_TRY_ASSIGN(Written written, co_await store_change(server, call, target, std::move(change)));
  co_return Reply::of(std::move(written.object), written.created ? 201 : 200);
}

}  // namespace

Task<Outcome<Reply>> patch_object(ApiServer& server, Call& call, const Kind& kind) {
  std::string type = call.content_type.substr(0, call.content_type.find(';'));
  if (type == "application/apply-patch+yaml") co_return co_await apply_patch(server, call, kind);
  bool json_patch = type == "application/json-patch+json";
  bool merge = type == "application/merge-patch+json";
  bool strategic = type == "application/strategic-merge-patch+json";
  if (!json_patch && !merge && (!strategic || kind.custom)) {
    if (strategic)
      co_return refuse(Status{415,
                              "UnsupportedMediaType",
                              "the body of the request was in an unknown format - accepted media types include: "
                              "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
                              {}});
    co_return refuse(Status{415, "UnsupportedMediaType", "415: Unsupported Media Type", Json::Object{}});
  }
  CO_TRY(check_write_options(call, "PatchOptions", false));
  CO_TRY_ASSIGN(Json::Lenient body, parsed_patch(call));
  const Json& patch = body.value;
  if (!json_patch && !patch.is_object())
    co_return refuse(undecodable(
        fmt::format("json: cannot unmarshal {} into Go value of type map[string]interface {{}}", go_kind(patch))));
  if (json_patch && !patch.is_array())
    co_return refuse(undecodable(
        fmt::format("json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp", go_kind(patch))));

  const Core& core = server.core();
  std::string subresource = call.route.subresource;
  Change change;
  change.is_patch = true;
  change.make = [&](const Json& live) -> Outcome<Json> {
    Outcome<Json> patched;
    if (strategic) {
      std::expected<Json, schema::Refusal> merged = schema::strategic_merge(*schema_of(kind), live, patch);
      if (!merged) return refuse(from_refusal(std::move(merged.error())));
      patched = *std::move(merged);
    } else {
      Result<Json> done = merge ? apply_merge_patch(live, patch) : apply_json_patch(live, patch);
      if (!done) return refuse(rejected_patch());
      patched = *std::move(done);
    }
    TRY(check_names(kind, call.route, *patched));
    Outcome<Json> object = decode_value(call, kind, *std::move(patched), true, body.repeated);
    if (!object) return object;
    reset_fields(kind, subresource, &live, *object);
    return with_managers(core, kind, subresource, &live, *std::move(object), call.manager());
  };
  Target target{kind, {call.route.ns, call.route.name}, subresource};
  CO_TRY_ASSIGN(Written written, co_await store_change(server, call, target, std::move(change)));
  co_return Reply::of(std::move(written.object));
}

}  // namespace fairlead::sandbox

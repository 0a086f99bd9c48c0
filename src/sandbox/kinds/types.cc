#include "sandbox/kinds/types.h"

#include <fmt/format.h>

#include "admission/go_json.h"
#include "base/base64.h"
#include "base/go_kind.h"
#include "sandbox/core/custom_kind.h"
#include "sandbox/kinds/autoscaling.h"
#include "sandbox/kinds/internal/cel_rules.h"
#include "sandbox/kinds/strategy.h"
#include "sandbox/wire/go_yaml.h"
#include "sandbox/wire/protobuf.h"
#include "schema/apply.h"
#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/types/typed.h"
#include "schema/validation/decode.h"
#include "schema/validation/structural.h"
#include "yaml/yaml.h"

namespace fairlead::sandbox {
namespace {

schema::Target target_of(const Core& core, const Kind& kind, std::string_view subresource) {
  schema::Target target;
  target.api_version = kind.api_version();
  target.kind = kind.kind;
  target.subresource = subresource;
  target.versions.emplace(target.api_version, schema_of(kind));
  if (kind.custom || is_autoscaler(kind)) {
    for (const Kind* other : core.kinds.in_order())
      if (other->id() == kind.id()) target.versions.emplace(other->api_version(), schema_of(*other));
  }
  target.reset = schema::reset_fields(kind.group, kind.kind, subresource, has_status(kind));
  if (is_autoscaler(kind))
    target.convert = [](const Json& object, std::string_view version) { return autoscaler_in(object, version); };
  target.complete = [&kind](Json object) { return settle(kind, std::move(object)); };
  return target;
}

std::chrono::sys_seconds now_of(const Core& core) {
  return std::chrono::floor<std::chrono::seconds>(core.loop.clock().wall_now());
}

std::string media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (!type.empty() && type.back() == ' ') type.remove_suffix(1);
  return std::string(type);
}

// The result of a patch that the decoder cannot take: the whole object is shown.
Status undecodable_patch(const Json& object, std::string_view why) {
  return invalid("", "", "", {invalid_value("patch", Json(object.dump()), why)});
}

// The start of a body, as errors show it: in hexadecimal unless it looks like JSON.
std::string summary(std::string_view text) {
  constexpr size_t kMost = 30;
  if (text.empty()) return "<empty>";
  std::string_view more = text.size() > kMost ? " ..." : "";
  text = text.substr(0, kMost);
  if (text.front() == '{') return fmt::format("{}{}", text, more);
  std::string digits;
  for (char c : text) digits += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return fmt::format("{}{}", digits, more);
}

Outcome<void> check_size(const std::string& text) {
  if (text.size() <= 3145728) return {};
  return refuse(Status{413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", {}});
}

Status cannot_be_handled(const Kind& kind, std::string_view why) {
  return from_refusal(schema::cannot_be_handled(kind.kind, kind.version, why));
}

}  // namespace

schema::SchemaPtr schema_of(const Kind& kind) { return kind.custom ? kind.custom->schema : kind.builtin_schema(); }

Outcome<Json> parse_body(const Call& call) {
  Outcome<Json::Lenient> body = read_body(call, Json::Repeats::merged);
  if (!body) return refuse(body.error());
  return std::move(body->value);
}

Outcome<Json::Lenient> read_body(const Call& call, Json::Repeats repeats) {
  if (const Json* value = std::get_if<Json>(&call.body)) return Json::Lenient{*value, {}};
  const std::string& text = std::get<std::string>(call.body);
  TRY(check_size(text));
  std::string type = media_type(call.content_type);
  if (type == "application/yaml" || type == "application/apply-patch+yaml") {
    Result<Json> value = yaml::parse_one(text, "the request");
    if (!value) {
      if (std::optional<std::string> flaw = go_yaml_error(text)) {
        // A patch that does not begin as JSON does is made into JSON first.
        size_t start = text.find_first_not_of(" \t\r\n");
        bool as_json = start != std::string::npos && text[start] == '{';
        std::string_view step = type == "application/yaml" ? "error decoding YAML: error converting YAML to JSON: "
                                : as_json                  ? "error decoding patch: error converting YAML to JSON: "
                                                           : "error encoding patch: ";
        return refuse(bad_request(fmt::format("{}yaml: {}", step, *flaw)));
      }
      return refuse(not_implemented(fmt::format("YAML that it cannot read: {}", value.error().root().what())));
    }
    if (type == "application/apply-patch+yaml" && !value->is_object())
      return refuse(
          bad_request(fmt::format("error decoding patch: error unmarshaling JSON: while decoding JSON: json: cannot "
                                  "unmarshal {} into Go value of type map[string]interface {{}}",
                                  go_kind(*value))));
    return Json::Lenient{*std::move(value), {}};
  }
  if (type == kProtobufType) {
    Result<Json> value = decode_protobuf(text);
    if (value) return Json::Lenient{*std::move(value), {}};
    const Error& error = value.error();
    return refuse(error.kind() == ErrorKind::limit ? not_implemented(error.message()) : bad_request(error.message()));
  }
  Result<Json::Lenient> value = Json::parse_lenient(text, repeats);
  if (!value) return refuse(bad_request(value.error().message()));
  return *std::move(value);
}

Json structural_form(const Kind& kind, Json object) {
  if (!kind.custom->preserve_unknown) object = schema::prune(kind.custom->open_api_schema, object).object;
  object = schema::with_structural_defaults(kind.custom->open_api_schema, object);
  return schema::stored_form(*kind.custom->schema, object);
}

std::vector<Cause> schema_causes(const Kind& kind, std::string_view subresource, const Json* live, const Json& object) {
  const Json& whole = kind.custom->open_api_schema;
  bool status_only = subresource == "status";
  const Json& schema = status_only ? whole["properties"]["status"] : whole;
  auto part = [&](const Json& of) -> const Json& { return status_only ? of["status"] : of; };
  std::vector<schema::Cause> before;
  if (live) before = schema::violations(schema, part(*live));
  std::vector<Cause> causes;
  if (!part(object).is_null())
    for (schema::Cause& cause : schema::violations(schema, part(object))) {
      bool known = std::any_of(before.begin(), before.end(), [&](const schema::Cause& one) {
        return one.field == cause.field && one.message == cause.message && one.reason == cause.reason;
      });
      if (known) continue;
      std::string field = status_only ? "status." + cause.field : std::move(cause.field);
      causes.push_back({std::move(cause.reason), std::move(field), std::move(cause.message)});
    }
  if (!status_only)
    for (schema::Cause& cause : schema::embedded_violations(whole, object))
      causes.push_back({std::move(cause.reason), std::move(cause.field), std::move(cause.message)});
  // Rules are looked at when the rest is right.
  if (causes.empty()) {
    std::vector<Cause> rules = check_rules(whole, live, object).causes;
    causes.insert(causes.end(), rules.begin(), rules.end());
  }
  return causes;
}

std::string undecided_rule(const Kind& kind, const Json* live, const Json& object) {
  return check_rules(kind.custom->open_api_schema, live, object).undecided;
}

namespace {

// A Secret's plain values are for writing only.
void encode_string_data(Json& object) {
  const Json::Object* plain = object["stringData"].if_object();
  if (!plain) return;
  Json::Object entries = *plain;
  for (const Json::Member& entry : entries) object.make("data").make(entry.key) = to_base64(entry.value.string_or(""));
  object.if_object()->erase("stringData");
}

}  // namespace

Json settle(const Kind& kind, Json object) {
  if (kind.custom) return structural_form(kind, std::move(object));
  if (kind.id() == ResourceId{"", "secrets"}) encode_string_data(object);
  schema::SchemaPtr schema = kind.builtin_schema();
  if (!schema) return object;
  object = schema::with_defaults(*schema, schema::stored_form(*schema, object));
  // The server's own form is that of v2: what v1 leaves open is decided on the way there.
  if (is_autoscaler(kind) && kind.version != kind.storage_version)
    return autoscaler_in(autoscaler_in(object, fmt::format("{}/{}", kind.group, kind.storage_version)),
                         kind.api_version());
  return object;
}

namespace {

// An object in protobuf; a flaw is told with what the object was meant to be.
Outcome<Json> object_from_protobuf(const std::string& text, const Kind& kind) {
  TRY(check_size(text));
  Result<Json> value = decode_protobuf(text);
  if (value) return *std::move(value);
  const Error& error = value.error();
  if (error.kind() == ErrorKind::limit) return refuse(not_implemented(error.message()));
  if (error.kind() == ErrorKind::protocol)
    return refuse(
        bad_request(fmt::format("{} cannot be handled as a {}: {}", error.what(), kind.kind, error.root().what())));
  return refuse(bad_request(fmt::format("the object provided is unrecognized (must be of type {}): {} ({})", kind.kind,
                                        error.what(), summary(text))));
}

}  // namespace

Outcome<Json> decode_object(Call& call, const Kind& kind) {
  std::string type = media_type(call.content_type);
  const std::string* text = std::get_if<std::string>(&call.body);
  if (text && type == kProtobufType) {
    Outcome<Json> object = object_from_protobuf(*text, kind);
    if (!object) return object;
    return decode_value(call, kind, *std::move(object), false);
  }
  if (type != "application/json" && type != "application/yaml" && !type.empty())
    return refuse(Status{415,
                         "UnsupportedMediaType",
                         "the body of the request was in an unknown format - accepted media types include: "
                         "application/json, application/yaml, application/vnd.kubernetes.protobuf",
                         {}});
  Outcome<Json::Lenient> value = read_body(call, kind.custom ? Json::Repeats::last : Json::Repeats::merged);
  if (!value) {
    if (value.error().code != 400 || !text) return refuse(value.error());
    if (std::optional<std::string> flaw = admission::go_syntax_error(*text))
      return refuse(
          bad_request(fmt::format("the object provided is unrecognized (must be of type {}): couldn't get "
                                  "version/kind; json parse error: {} ({})",
                                  kind.kind, *flaw, summary(*text))));
    // Its syntax is right: it is too deep.
    return refuse(not_implemented(fmt::format("a body that cannot be read: {}", value.error().message)));
  }
  return decode_value(call, kind, std::move(value->value), false, value->repeated);
}

Outcome<Json> decode_value(Call& call, const Kind& kind, Json value, bool from_patch,
                           const std::vector<std::string>& repeated) {
  if (!value.is_object())
    return refuse(
        bad_request(fmt::format("the object provided is unrecognized (must be of type {}): couldn't get "
                                "version/kind; json parse error: json: cannot unmarshal {} into Go value of "
                                "type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
                                "string \"json:\\\"kind,omitempty\\\"\" }}",
                                kind.kind, value.type_name())));
  std::string_view named = value["kind"].string_or("");
  std::string_view version = value["apiVersion"].string_or("");
  if (kind.custom) {
    if (version != kind.api_version())
      return refuse(
          bad_request(fmt::format("the API version in the data ({}) does not match the expected API version "
                                  "({})",
                                  version, kind.api_version())));
  } else {
    std::string given_kind(named.empty() ? std::string_view(kind.kind) : named);
    std::string given_version(version.empty() ? kind.api_version() : std::string(version));
    if (given_kind != kind.kind || given_version != kind.api_version()) {
      size_t slash = given_version.find('/');
      std::string group = slash == std::string::npos ? "" : given_version.substr(0, slash);
      std::string own = slash == std::string::npos ? given_version : given_version.substr(slash + 1);
      std::string why =
          schema::builtin_schema(group, own, given_kind)
              ? fmt::format("converting ({}.{}) to ({}.{}): unknown conversion", own, given_kind,
                            kind.group.empty() ? "core" : kind.group.substr(0, kind.group.find('.')), kind.kind)
              : fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme \"pkg/runtime/scheme.go:111\"",
                            given_kind, given_version);
      return refuse(bad_request(
          fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", given_kind, own, kind.kind, why)));
    }
    value.make("kind") = kind.kind;
    value.make("apiVersion") = kind.api_version();
  }
  std::vector<std::string> unknown;
  for (const std::string& path : repeated) unknown.push_back(fmt::format("duplicate field \"{}\"", path));
  if (kind.custom) {
    if (!kind.custom->preserve_unknown)
      for (const std::string& path : schema::prune(kind.custom->open_api_schema, value).unknown)
        unknown.push_back(schema::unknown_field(path));
  } else {
    schema::Decoding decoding = schema::decode(*schema_of(kind), value);
    if (decoding.error)
      return refuse(from_patch ? undecodable_patch(value, *decoding.error) : cannot_be_handled(kind, *decoding.error));
    for (const std::string& path : decoding.unknown) unknown.push_back(schema::unknown_field(path));
  }
  std::string_view mode = call.route.query.get("fieldValidation");
  if (!unknown.empty() && mode == "Strict") {
    std::string all = schema::strict_error(unknown);
    return refuse(from_patch ? undecodable_patch(value, all) : cannot_be_handled(kind, all));
  }
  if (mode != "Ignore")
    for (std::string& warning : unknown) call.warn(std::move(warning));
  return settle(kind, std::move(value));
}

Outcome<Json> apply_configuration(const Core& core, const Kind& kind, std::string_view subresource, const Json* live,
                                  const Json& configuration, std::string_view manager, bool force) {
  std::expected<Json, schema::Refusal> applied =
      schema::apply(target_of(core, kind, subresource), live ? *live : Json(), configuration,
                    {std::string(manager), now_of(core), force});
  if (!applied) return refuse(from_refusal(std::move(applied.error())));
  return *std::move(applied);
}

Json with_managers(const Core& core, const Kind& kind, std::string_view subresource, const Json* live, Json object,
                   std::string_view manager) {
  return schema::track_update(target_of(core, kind, subresource), live ? *live : Json(), std::move(object),
                              {std::string(manager), now_of(core)});
}

}  // namespace fairlead::sandbox

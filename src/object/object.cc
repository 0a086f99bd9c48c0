#include "object/object.h"

#include "object/name.h"

namespace fairlead::object {
namespace {

Error wrong_type(std::string_view field, const Json& value, std::string_view wanted) {
  std::string_view type = value.type_name();
  bool vowel = type.starts_with('i') || type.starts_with('a') || type.starts_with('o');
  // YAML reads `name: y` as a boolean and `name: 1` as a number.
  bool quotes_help = wanted == "a string" && (value.is_bool() || value.is_number());
  return Error(ErrorKind::invalid, fmt::format("{} is {}{}, it must be {}{}", field,
                                               value.is_null() ? ""
                                               : vowel         ? "an "
                                                               : "a ",
                                               type, wanted, quotes_help ? ": put it in quotes" : ""));
}

Result<std::string> required_string(const Json& object, std::string_view member, std::string_view path) {
  const Json& value = object[member];
  const std::string* text = value.if_string();
  if (value.is_null() || (text && text->empty())) return fail(ErrorKind::invalid, "{} is missing", path);
  if (!text) return fail(wrong_type(path, value, "a string"));
  return *text;
}

}  // namespace

std::string Source::text() const {
  if (file.empty()) return {};
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

Object::Object(Json value, Key key, std::string version, Source source)
    : value_(std::move(value)), key_(std::move(key)), version_(std::move(version)), source_(std::move(source)) {}

Result<Object> Object::from(Json value, Source source) {
  if (!value.is_object()) return fail(wrong_type("this document", value, "an object with apiVersion and kind"));
  TRY_ASSIGN(std::string api_version, required_string(value, "apiVersion", "apiVersion"));
  TRY_ASSIGN(ApiVersion parts, ApiVersion::parse(api_version));
  Key key{.group = std::move(parts.group), .kind = {}, .ns = {}, .name = {}};
  TRY_ASSIGN(key.kind, required_string(value, "kind", "kind"));
  TRY(check_kind(key.kind));

  const Json& metadata = value["metadata"];
  if (!metadata.is_object() && !metadata.is_null()) return fail(wrong_type("metadata", metadata, "an object"));
  Result<std::string> name = required_string(metadata, "name", "metadata.name");
  if (!name && metadata["name"].is_null() && metadata.contains("generateName"))
    return fail(Error(ErrorKind::invalid,
                      "it has metadata.generateName and no metadata.name: it cannot be applied twice, since each time "
                      "would make another object")
                    .next("give it a metadata.name, and if it is to run in every rollout, the annotation helm.sh/hook: "
                          "pre-install,pre-upgrade; or create it once: kubectl create -f FILE"));
  if (!name) return fail(std::move(name).error());
  key.name = *std::move(name);
  TRY(check_path_segment("metadata.name", key.name));

  const Json& ns = metadata["namespace"];
  if (!ns.is_null()) {
    if (!ns.is_string()) return fail(wrong_type("metadata.namespace", ns, "a string"));
    key.ns = *ns.if_string();
    if (!key.ns.empty()) TRY(check_namespace(key.ns));
  }
  return Object(std::move(value), std::move(key), std::move(parts.version), std::move(source));
}

void Object::set_namespace(std::string_view ns) {
  key_.ns = ns;
  if (!ns.empty()) value_.make("metadata").make("namespace") = ns;
  else if (Json::Object* metadata = value_.make("metadata").if_object()) metadata->erase("namespace");
}

}  // namespace fairlead::object

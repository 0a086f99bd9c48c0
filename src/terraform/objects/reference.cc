#include "terraform/objects/reference.h"

#include <fmt/format.h>

namespace fairlead::terraform {

std::string Reference::version() const {
  size_t slash = api_version.rfind('/');
  return slash == std::string::npos ? api_version : api_version.substr(slash + 1);
}

std::string Reference::id() const {
  return fmt::format("{}/{}:{}{}{}", api_version, key.kind, key.ns, key.ns.empty() ? "" : "/", key.name);
}

std::optional<Reference> Reference::from_id(std::string_view id) {
  size_t colon = id.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view kind = id.substr(0, colon), name = id.substr(colon + 1);
  size_t before_kind = kind.rfind('/');
  if (before_kind == std::string_view::npos) return std::nullopt;
  size_t after_namespace = name.find('/');
  bool has_namespace = after_namespace != std::string_view::npos;
  std::string_view ns = has_namespace ? name.substr(0, after_namespace) : std::string_view();
  return reference_of(Value::object({{"api_version", kind.substr(0, before_kind)},
                                     {"kind", kind.substr(before_kind + 1)},
                                     {"namespace", ns},
                                     {"name", has_namespace ? name.substr(after_namespace + 1) : name}}));
}

std::optional<Reference> reference_of(const Value& value) {
  Reference reference;
  reference.api_version = value["api_version"].string_or("");
  Result<object::ApiVersion> version = object::ApiVersion::parse(reference.api_version);
  reference.key.kind = value["kind"].string_or("");
  reference.key.ns = value["namespace"].string_or("");
  reference.key.name = value["name"].string_or("");
  if (!version || reference.key.kind.empty() || reference.key.name.empty()) return std::nullopt;
  reference.key.group = version->group;
  return reference;
}

void check_reference(const Value& value, const Path& path, Diagnostics& found) {
  if (!value.is_known() || !value.is_wholly_known() || reference_of(value)) return;
  found.error(fmt::format("{} names no object", path.text()), "It needs api_version (such as apps/v1), kind and name.",
              path);
}

Value value_of(const Reference& reference) {
  Value ns = reference.key.ns.empty() ? Value() : Value(reference.key.ns);
  return Value::object({{"api_version", reference.api_version},
                        {"kind", reference.key.kind},
                        {"namespace", std::move(ns)},
                        {"name", reference.key.name}});
}

Attribute reference_attribute(std::string name, bool is_input, std::string description) {
  auto part = [&](const char* part_name, bool required, const char* text) {
    return Attribute{.name = part_name,
                     .required = is_input && required,
                     .optional = is_input && !required,
                     .computed = !is_input,
                     .description = text};
  };
  return {
      .name = std::move(name),
      .nesting = Nesting::single,
      .nested = {part("api_version", true, "For example `apps/v1`."), part("kind", true, "For example `Deployment`."),
                 part("namespace", false, "Null for kinds without namespaces."), part("name", true, "Its name.")},
      .required = is_input,
      .computed = !is_input,
      .description = std::move(description)};
}

}  // namespace fairlead::terraform

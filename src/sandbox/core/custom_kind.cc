#include "sandbox/core/custom_kind.h"

#include <fmt/format.h>

#include <charconv>

#include "schema/types/custom.h"

namespace fairlead::sandbox {
namespace {

constexpr std::string_view kNameText =
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
constexpr std::string_view kAgeText =
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in "
    "RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

std::vector<std::string> texts(const Json& array) {
  std::vector<std::string> list;
  for (const Json& item : array.items()) list.emplace_back(item.string_or(""));
  return list;
}

void add_columns(const Json& version, Kind& kind, CustomKind& custom) {
  kind.columns.push_back({"Name", "string", "name", std::string(kNameText), 0});
  for (const Json& column : version["additionalPrinterColumns"].items()) {
    std::string path(column["jsonPath"].string_or(""));
    std::string description(column["description"].string_or(""));
    if (description.empty())
      description = fmt::format("Custom resource definition column (in JSONPath format): {}", path);
    kind.columns.push_back({std::string(column["name"].string_or("")), std::string(column["type"].string_or("")),
                            std::string(column["format"].string_or("")), std::move(description),
                            column["priority"].int_or(0)});
    custom.printer_columns.push_back({std::string(column["type"].string_or("")), std::move(path)});
  }
  if (custom.printer_columns.empty()) {
    kind.columns.push_back({"Age", "date", "", std::string(kAgeText), 0});
    custom.printer_columns.push_back({"date", ".metadata.creationTimestamp"});
  }
}

// What the server says of a deprecated version. If the definition has no words for it, it names the newest version that
// is to be used instead.
std::string deprecation_warning(const Json& spec, const Json& version) {
  if (const std::string* own = version["deprecationWarning"].if_string()) return *own;
  std::string_view kind = spec["names"]["kind"].string_or(""), name = version["name"].string_or(""), newest = name;
  for (const Json& other : spec["versions"].items()) {
    bool is_usable = other["served"].bool_or(false) && !other["deprecated"].bool_or(false);
    if (std::string_view its = other["name"].string_or(""); is_usable && version_comes_first(its, newest)) newest = its;
  }
  std::string_view group = spec["group"].string_or("");
  std::string text = fmt::format("{}/{} {} is deprecated", group, name, kind);
  if (newest != name) text += fmt::format("; use {}/{} {}", group, newest, kind);
  return text;
}

}  // namespace

std::vector<Kind> kinds_of(const Json& definition) {
  const Json& spec = definition["spec"];
  const Json& names = definition["status"]["acceptedNames"];
  std::string storage;
  for (const Json& version : spec["versions"].items())
    if (version["storage"].bool_or(false)) storage = version["name"].string_or("");
  std::vector<Kind> kinds;
  for (const Json& version : spec["versions"].items()) {
    if (!version["served"].bool_or(false)) continue;
    Kind kind;
    kind.group = spec["group"].string_or("");
    kind.version = version["name"].string_or("");
    kind.resource = names["plural"].string_or("");
    kind.singular = names["singular"].string_or("");
    kind.kind = names["kind"].string_or("");
    kind.list_kind = names["listKind"].string_or("");
    kind.namespaced = spec["scope"].string_or("") == "Namespaced";
    kind.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
    kind.short_names = texts(names["shortNames"]);
    kind.categories = texts(names["categories"]);
    kind.storage_version = storage;
    kind.stored_as = kind.id();

    auto custom = std::make_shared<CustomKind>();
    custom->definition = definition["metadata"]["name"].string_or("");
    custom->open_api_schema = version["schema"]["openAPIV3Schema"];
    custom->preserve_unknown = spec["preserveUnknownFields"].bool_or(false);
    custom->schema = schema::custom_schema(custom->open_api_schema, custom->preserve_unknown);
    custom->conversion = spec["conversion"];
    custom->terminating = definition["metadata"].contains("deletionTimestamp");
    custom->is_deprecated = version["deprecated"].bool_or(false);
    if (custom->is_deprecated) custom->deprecation_warning = deprecation_warning(spec, version);
    const Json& sub = version["subresources"];
    if (sub.contains("status")) {
      custom->has_status = true;
      kind.subresources.push_back({"status", kind.group, kind.version, kind.kind, {"get", "patch", "update"}});
    }
    if (sub.contains("scale")) {
      custom->replicas_path = sub["scale"]["specReplicasPath"].string_or("");
      custom->status_replicas_path = sub["scale"]["statusReplicasPath"].string_or("");
      custom->selector_path = sub["scale"]["labelSelectorPath"].string_or("");
      kind.subresources.push_back({"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}});
    }
    add_columns(version, kind, *custom);
    kind.custom = std::move(custom);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

Json value_at(const Json& object, std::string_view path) {
  const Json* value = &object;
  while (!path.empty()) {
    if (path.front() == '.') {
      path.remove_prefix(1);
      std::string name;
      while (!path.empty() && path.front() != '.' && path.front() != '[') {
        if (path.front() == '\\' && path.size() > 1) path.remove_prefix(1);
        name += path.front();
        path.remove_prefix(1);
      }
      if (!name.empty()) value = &(*value)[name];
    } else if (path.front() == '[') {
      size_t close = path.find(']');
      if (close == std::string_view::npos) return {};
      std::string_view inside = path.substr(1, close - 1);
      path.remove_prefix(close + 1);
      if (inside.starts_with("?(@.")) {
        size_t equals = inside.find("==");
        if (equals == std::string_view::npos || inside.size() < equals + 5) return {};
        std::string_view key = inside.substr(4, equals - 4);
        while (!key.empty() && key.back() == ' ') key.remove_suffix(1);
        std::string_view wanted = inside.substr(equals + 2);
        while (!wanted.empty() && (wanted.front() == ' ' || wanted.front() == '"' || wanted.front() == '\''))
          wanted.remove_prefix(1);
        while (!wanted.empty() && (wanted.back() == ')' || wanted.back() == '"' || wanted.back() == '\''))
          wanted.remove_suffix(1);
        const Json* found = nullptr;
        for (const Json& item : value->items())
          if (item[key].string_or("") == wanted && !found) found = &item;
        if (!found) return {};
        value = found;
      } else if (inside.size() > 2 && (inside.front() == '\'' || inside.front() == '"')) {
        value = &(*value)[inside.substr(1, inside.size() - 2)];
      } else {
        size_t index = 0;
        std::from_chars(inside.data(), inside.data() + inside.size(), index);
        value = &value->item(index);
      }
    } else {
      return {};
    }
  }
  return *value;
}

void set_at(Json& object, std::string_view path, Json value) {
  Json* place = &object;
  while (!path.empty()) {
    if (path.front() == '.') path.remove_prefix(1);
    size_t dot = path.find('.');
    place = &place->make(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  *place = std::move(value);
}

}  // namespace fairlead::sandbox

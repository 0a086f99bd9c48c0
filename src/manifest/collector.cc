#include "manifest/collector.h"

#include <algorithm>
#include <filesystem>

#include "base/printable.h"

namespace fairlead::manifest {
namespace {

// Bytes of a name that nobody has checked yet.
constexpr size_t kShown = 300;

std::string position(const std::string& name, size_t line) { return fmt::format("{}:{}", name, line); }

// As much of its name as it has.
std::string describe(const Json& value) {
  auto shown = [](const Json& text) { return printable_line(text.string_or("").substr(0, kShown)); };
  std::string kind = shown(value["kind"]);
  if (kind.empty()) return "the document";
  std::string name = shown(value["metadata"]["name"]);
  std::string ns = shown(value["metadata"]["namespace"]);
  std::string prefix = shown(value["metadata"]["generateName"]);
  if (name.empty() && !prefix.empty()) return fmt::format("the {} {}…", kind, prefix);
  if (name.empty()) return fmt::format("the {}", kind);
  return ns.empty() ? fmt::format("{} {}", kind, name) : fmt::format("{} {}/{}", kind, ns, name);
}

bool is_kustomization(const std::string& name) {
  std::string file = std::filesystem::path(name).filename();
  return file == "kustomization.yaml" || file == "kustomization.yml" || file == "Kustomization";
}

bool is_bundle_file(const std::string& name) { return std::filesystem::path(name).filename() == "fairlead.yaml"; }

// What to do about a text that never was a manifest.
Error with_advice(Error error, std::string_view text, const std::string& name) {
  if (is_kustomization(name)) {
    std::string folder = std::filesystem::path(name).parent_path();
    return std::move(error).next(fmt::format("-k {} builds a kustomization", folder.empty() ? "." : folder));
  }
  if (is_bundle_file(name))
    return std::move(error).next(fmt::format("--config {} if it describes a bundle; it is no manifest then", name));
  if (text.find("{{") != std::string_view::npos)
    return std::move(error).next("if this is part of a Helm chart: --chart CHART");
  return error;
}

bool is_list(const Json& value) {
  const Json* items = value.members().find("items");
  return items && (items->is_array() || items->is_null()) && value["kind"].string_or("").ends_with("List");
}

}  // namespace

void Collector::add_error(Error error) {
  if (is_full()) return;
  if (errors_.size() == limits_.errors)
    error = Error(ErrorKind::invalid, fmt::format("there are more errors than these {}", limits_.errors));
  errors_.push_back(std::move(error));
}

std::expected<Bundle, Errors> Collector::finish() && {
  if (!errors_.empty()) return std::unexpected(std::move(errors_));
  return std::move(bundle_);
}

void Collector::add(std::string_view content, const std::string& name) {
  add_documents({.content = content, .name = name});
}

void Collector::add_rendered(const Text& text) {
  if (text.has_lines) return add(text.content, text.origin);
  std::string name = text.origin + ", as rendered";
  add_documents({.content = text.content, .name = name, .origin = &text.origin});
}

void Collector::add_documents(const Input& text) {
  yaml::Stream stream(text.content, text.name, limits_.yaml);
  while (!is_full()) {
    std::optional<Result<yaml::Document>> document = stream.next();
    if (!document) return;
    if (*document) add_document(text, *std::move(*document));
    else add_error(with_advice(std::move(*document).error(), text.content, text.name));
  }
}

void Collector::add_document(const Input& text, yaml::Document document) {
  if (values_ + document.values > limits_.values) {
    add_error(Error(ErrorKind::limit, fmt::format("the manifests have more than {} values", limits_.values))
                  .at(position(text.name, document.line))
                  .next("split them, and apply the parts one after another"));
    values_ = limits_.values + 1;
    return;
  }
  values_ += document.values;
  add_value(text, std::move(document.value), document.line, document.item_lines);
}

void Collector::add_value(const Input& text, Json value, size_t line, const std::vector<uint32_t>& item_lines) {
  if (!is_list(value)) {
    add_object(text, std::move(value), line);
    return;
  }
  std::string item_kind(value["kind"].string_or(""));
  item_kind.resize(item_kind.size() - std::string_view("List").size());
  std::string api_version(value["apiVersion"].string_or(""));
  Json& items = value.make("items");
  if (items.is_null()) return;
  size_t index = 0;
  for (Json& item : *items.if_array()) {
    size_t item_line = index < item_lines.size() ? item_lines[index] : line;
    ++index;
    // The API server leaves both out in the items of a list of one kind.
    bool is_bare = item.is_object() && !item.contains("kind") && !item.contains("apiVersion");
    if (is_bare && !item_kind.empty() && !api_version.empty()) {
      item.make("apiVersion") = api_version;
      item.make("kind") = item_kind;
    }
    add_value(text, std::move(item), item_line, {});
    if (is_full()) return;
  }
}

void Collector::add_object(const Input& text, Json value, size_t line) {
  std::string what = describe(value);
  auto refuse = [&](Error cause) {
    std::string where = cause.where().empty() ? position(text.name, line) : cause.where();
    Error error = Error(ErrorKind::invalid, what + " cannot be used").because(std::move(cause)).at(std::move(where));
    add_error(with_advice(std::move(error), text.content, text.name));
  };
  object::Source source{.file = text.name, .line = line};
  if (text.origin) source = {.file = *text.origin};
  Result<object::Object> object = object::Object::from(std::move(value), std::move(source));
  if (!object) return refuse(std::move(object).error());
  for (std::string_view member : {"labels", "annotations"}) {
    Result<void> checked = check_strings(text, *object, line, member);
    if (!checked) return refuse(std::move(checked).error());
  }
  bundle_.objects.push_back(*std::move(object));
}

// The API server takes nothing else, and its own words for that name no line.
Result<void> Collector::check_strings(const Input& text, const object::Object& object, size_t start,
                                      std::string_view member) const {
  const Json& map = object.metadata()[member];
  if (map.is_null()) return {};
  object::FieldPath path{"metadata", std::string(member)};
  auto refuse = [&](const object::FieldPath& where, std::string_view must) {
    size_t line = yaml::locate(text.content, start, where.steps()).value_or(start);
    return fail(Error(ErrorKind::invalid, fmt::format("{} {}", printable_line(where.text()), must))
                    .at(position(text.name, line)));
  };
  if (!map.is_object()) return refuse(path, "must be an object");
  for (const Json::Member& entry : map.members()) {
    if (entry.value.is_string() || entry.value.is_null()) continue;
    bool can_be_quoted = !entry.value.is_object() && !entry.value.is_array();
    return refuse(path.child(entry.key), can_be_quoted ? "must be a string: put it in quotes" : "must be a string");
  }
  return {};
}

bool describes_bundle(const std::string& name, std::string_view text) {
  if (!is_bundle_file(name)) return false;
  std::optional<Result<yaml::Document>> first = yaml::Stream(text, name).next();
  if (!first || !*first) return false;
  const Json& value = (*first)->value;
  return value.is_object() && !value.contains("apiVersion") && !value.contains("kind");
}

}  // namespace fairlead::manifest

#include "terraform/projection/projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fields/managed_fields.h"
#include "inventory/digest.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

using fields::FieldSet;
using fields::ManagedEntry;
using fields::Path;
using fields::PathElement;

constexpr std::string_view kLastAppliedConfiguration = "kubectl.kubernetes.io/last-applied-configuration";

void collect_leaves(const FieldSet& set, Path& path, std::vector<Path>& out) {
  for (const FieldSet::Node& node : set.nodes()) {
    path.push_back(node.element);
    if (node.below.empty()) out.push_back(path);
    else collect_leaves(node.below, path, out);
    path.pop_back();
  }
}

std::vector<Path> leaves_of(const FieldSet& set) {
  std::vector<Path> out;
  Path path;
  collect_leaves(set, path, out);
  return out;
}

bool is_secret_object(const Json& object) {
  return object["kind"].string_or("") == "Secret" && object["apiVersion"].string_or("") == "v1";
}

bool starts_with_field(std::span<const PathElement> path, std::string_view name) {
  return !path.empty() && path[0].if_field() && *path[0].if_field() == name;
}

bool is_annotation(std::span<const PathElement> path, std::string_view name) {
  return path.size() == 3 && starts_with_field(path, "metadata") && path[1] == PathElement::field("annotations") &&
         path[2] == PathElement::field(name);
}

bool is_ignored(const Json& object, std::span<const PathElement> path, const FieldRules& rules) {
  return std::ranges::any_of(rules.ignored, [&](const Path& outer) { return is_within(object, outer, path); });
}

// True for texts that JSON reads as something else than a text.
bool looks_like_json(std::string_view text) {
  if (text.empty() || !std::string_view("{[\"-0123456789tfn").contains(text[0])) return false;
  return Json::parse(text).has_value();
}

// Fields that only hold texts, so that no quotes are needed.
bool holds_texts(std::span<const PathElement> path) {
  if (path.size() < 2) return false;
  return starts_with_field(path, "metadata") || starts_with_field(path, "data") ||
         starts_with_field(path, "stringData");
}

std::string value_text(const Json& object, std::span<const PathElement> path, const Json& value,
                       const FieldRules& rules) {
  if (is_hidden(object, path, rules)) return hashed_value(value);
  if (value.is_string() && holds_texts(path)) return std::string(value.string_or(""));
  // A list or object may have parts that must not be shown.
  if ((value.is_object() || value.is_array()) && !rules.sensitive.empty())
    return shown_value(*find_place(with_hashed_secrets(object, rules), path));
  return shown_value(value);
}

}  // namespace

Result<std::vector<Path>> FieldRules::parse(std::span<const std::string> texts) {
  std::vector<Path> paths;
  for (const std::string& text : texts) {
    TRY_ASSIGN(Path path, parse_place(text));
    paths.push_back(std::move(path));
  }
  return paths;
}

std::vector<Path> fields_of(const Json& object, std::string_view manager) {
  std::optional<ManagedEntry> entry = fields::applied_by(object, manager);
  return entry ? leaves_of(entry->fields) : std::vector<Path>();
}

std::string shown_value(const Json& value) {
  const std::string* text = value.if_string();
  return text && !looks_like_json(*text) ? *text : value.dump();
}

std::string hashed_value(const Json& value) {
  std::string digest = inventory::sha256("fairlead " + value.dump());
  std::string out = "sha256:";
  for (size_t i = 0; i < 8; ++i) out += fmt::format("{:02x}", static_cast<unsigned char>(digest[i]));
  return out;
}

bool is_hidden(const Json& object, std::span<const PathElement> path, const FieldRules& rules) {
  if (rules.hides_all) return true;
  if (is_secret_object(object) && (starts_with_field(path, "data") || starts_with_field(path, "stringData") ||
                                   is_annotation(path, kLastAppliedConfiguration)))
    return true;
  return std::ranges::any_of(rules.sensitive, [&](const Path& outer) { return is_within(object, outer, path); });
}

Flat projection_of(const Json& object, std::string_view manager, const FieldRules& rules, const Flat& before) {
  Flat out;
  auto add = [&](const Path& path) {
    if (is_annotation(path, tool().owner_annotation) || is_ignored(object, path, rules)) return;
    const Json* value = find_place(object, path);
    if (value) out.insert_or_assign(text_of_place(path), value_text(object, path, *value, rules));
  };
  for (const Path& path : fields_of(object, manager)) add(path);
  for (const auto& [text, value] : before) {
    if (out.contains(text)) continue;
    if (Result<Path> path = parse_place(text)) add(*path);
  }
  return out;
}

Flat values_at(const Json& object, std::span<const Path> paths, const FieldRules& rules) {
  Flat out;
  for (const Path& path : paths)
    if (const Json* value = find_place(object, path))
      out.insert_or_assign(text_of_place(path), value_text(object, path, *value, rules));
  return out;
}

Flat owners_of(const Json& object, const FieldRules& rules) {
  std::map<std::string, std::set<std::string>> owners;
  auto entries = fields::parse_managed_fields(object["metadata"]["managedFields"]);
  if (!entries) return {};
  for (const ManagedEntry& entry : *entries) {
    if (entry.subresource == "status") continue;
    for (const Path& path : leaves_of(entry.fields)) {
      if (starts_with_field(path, "status") || is_annotation(path, tool().owner_annotation)) continue;
      if (is_ignored(object, path, rules)) continue;
      owners[text_of_place(path)].insert(entry.manager);
    }
  }
  Flat out;
  for (const auto& [path, managers] : owners) out[path] = fmt::format("{}", fmt::join(managers, ", "));
  return out;
}

Json with_hashed_secrets(Json object, const FieldRules& rules) {
  if (is_secret_object(object)) {
    for (std::string_view name : {"data", "stringData"}) {
      if (!object[name].is_object()) continue;
      for (Json::Member& member : *object.make(name).if_object()) member.value = hashed_value(member.value);
    }
    if (const Json& annotations = object["metadata"]["annotations"]; annotations.contains(kLastAppliedConfiguration)) {
      Json& copy = object.make("metadata").make("annotations").make(kLastAppliedConfiguration);
      copy = hashed_value(copy);
    }
  }
  for (const Path& path : rules.sensitive)
    if (Json* value = const_cast<Json*>(find_place(object, path))) *value = hashed_value(*value);
  return object;
}

}  // namespace fairlead::terraform

#include "rollout/core/field_texts.h"

#include <algorithm>
#include <cctype>

#include "base/nearest.h"
#include "inventory/unchanged.h"
#include "schema/validation/decode.h"

namespace fairlead::rollout {
namespace {

constexpr size_t kFieldsNamed = 5;
constexpr size_t kUnknownNamed = 10;

// Returns the text between `before`, which ends with a quote, and the next quote; empty if there is none.
std::string quoted_after(std::string_view text, std::string_view before) {
  size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  begin += before.size();
  size_t end = text.find('"', begin);
  return end == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin));
}

std::string list_of(const std::vector<std::string>& fields) {
  size_t shown = std::min(fields.size(), kFieldsNamed);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    bool is_last = i + 1 == fields.size();
    if (i > 0) text += is_last ? " and " : ", ";
    text += fields[i];
  }
  if (fields.size() > shown) text += fmt::format(" and {} more fields", fields.size() - shown);
  return text;
}

// Returns the names of the fields beside the one that the path leads to.
std::vector<std::string> names_beside(const schema::Schema& schema, const object::FieldPath& path) {
  schema::TypeId at = schema.root;
  for (size_t i = 0; i + 1 < path.steps().size() && at != schema::kNoType; ++i) {
    const auto* name = std::get_if<std::string>(&path.steps()[i]);
    at = name ? schema[at].member(*name) : schema[at].item;
  }
  std::vector<std::string> names;
  if (at == schema::kNoType) return names;
  for (const schema::Field& field : schema[at].fields) names.push_back(field.name);
  return names;
}

std::string text_of(const object::FieldPath& path, const std::string& name) {
  std::vector<object::FieldPath::Step> steps = path.steps();
  steps.back() = name;
  return object::FieldPath(std::move(steps)).text();
}

// Returns what to pass to kubectl explain, "deployment.spec.template", to see where the field was looked for.
std::string explained(const object::Object& object, const object::FieldPath& path) {
  std::string text = object.kind();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  for (size_t i = 0; i + 1 < path.steps().size(); ++i)
    if (const auto* name = std::get_if<std::string>(&path.steps()[i])) text += "." + *name;
  return text;
}

}  // namespace

// A message is, for example: conflict with "kubectl" with subresource "scale" using apps/v1
std::string owner_in(std::string_view message) {
  std::string manager = quoted_after(message, "conflict with \"");
  if (manager.empty()) return std::string(message);
  std::string subresource = quoted_after(message, "with subresource \"");
  return subresource.empty() ? manager : fmt::format("{} ({})", manager, subresource);
}

std::vector<std::string> owner_lines(const kube::Fault& conflict) {
  std::vector<std::pair<std::string, std::vector<std::string>>> owners;
  for (const kube::FaultCause& cause : conflict.causes) {
    if (cause.field.empty()) continue;
    std::string owner = owner_in(cause.message);
    auto found = std::ranges::find(owners, owner, &decltype(owners)::value_type::first);
    if (found == owners.end()) found = owners.insert(owners.end(), {owner, {}});
    found->second.push_back(cause.field);
  }
  std::vector<std::string> lines;
  for (const auto& [owner, fields] : owners)
    lines.push_back(fmt::format("{} {} owned by {}", list_of(fields), fields.size() == 1 ? "is" : "are", owner));
  return lines;
}

std::string conflict_advice(const kube::Fault& conflict) {
  std::vector<std::string> fields;
  for (const kube::FaultCause& cause : conflict.causes)
    if (!cause.field.empty() && std::ranges::find(fields, cause.field) == fields.end()) fields.push_back(cause.field);
  if (fields.empty())
    return "fairlead apply … --force-conflicts takes the fields over; or leave them out of the manifest";
  return fmt::format("fairlead apply … --force-conflicts takes {} over; or leave {} out of the manifest",
                     fields.size() == 1 ? "it" : "them", list_of(fields));
}

UnknownFields unknown_fields(const Run& run, NodeId node, const kube::Fault& fault) {
  UnknownFields unknown;
  bool is_about_them =
      fault.message.contains("field not declared in schema") || fault.message.contains("unknown field \"");
  if (fault.kind != kube::FaultKind::schema || !is_about_them) return unknown;
  const object::Object& object = run.object(node);
  inventory::Types types;
  if (const Json* definition = find_definition(run.bundle(), run.cluster().definitions, object.key()))
    types.learn(*definition);
  schema::SchemaPtr schema = types.find(object.value()["apiVersion"].string_or(""), object.kind()).schema;
  if (!schema) return unknown;
  for (const std::string& text : schema::decode(*schema, object.value()).unknown) {
    Result<object::FieldPath> path = object::FieldPath::parse(text);
    if (!path || path->empty() || unknown.lines.size() >= kUnknownNamed) continue;
    const auto* name = std::get_if<std::string>(&path->steps().back());
    std::optional<std::string> meant = name ? nearest(*name, names_beside(*schema, *path)) : std::nullopt;
    std::string where = manifest::locate(object.source(), *path).text();
    std::string line = fmt::format("unknown field {}", text);
    if (!unknown.lines.empty()) line += fmt::format(" ({})", where);
    if (meant) line += fmt::format("; did you mean {}?", text_of(*path, *meant));
    if (unknown.lines.empty()) {
      unknown.where = where;
      unknown.advice = "kubectl explain " + explained(object, *path);
    }
    unknown.lines.push_back(std::move(line));
  }
  return unknown;
}

}  // namespace fairlead::rollout

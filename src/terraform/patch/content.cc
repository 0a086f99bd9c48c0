#include "terraform/patch/content.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json_patch.h"
#include "yaml/yaml.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kPatchAttributes[] = {"patch", "json_patch", "merge_patch"};

void collect_merged(const Json& value, fields::Path& path, std::vector<fields::Path>& out) {
  if (value.is_object() && !value.members().empty()) {
    for (const Json::Member& member : value.members()) {
      path.push_back(fields::PathElement::field(member.key));
      collect_merged(member.value, path, out);
      path.pop_back();
    }
  } else if (!path.empty()) {
    out.push_back(path);
  }
}

// "/metadata/labels/a~1b". Nothing for the end of a list, which names no item that stays.
std::optional<fields::Path> place_of_pointer(std::string_view pointer) {
  fields::Path path;
  while (pointer.starts_with('/')) {
    pointer.remove_prefix(1);
    std::string step(pointer.substr(0, pointer.find('/')));
    pointer.remove_prefix(step.size());
    if (step == "-") return std::nullopt;
    for (size_t at = 0; (at = step.find("~1", at)) != std::string::npos; ++at) step.replace(at, 2, "/");
    for (size_t at = 0; (at = step.find("~0", at)) != std::string::npos; ++at) step.replace(at, 2, "~");
    int64_t index = 0;
    auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
    bool is_index = error == std::errc() && end == step.data() + step.size() && !step.empty() && index >= 0;
    path.push_back(is_index ? fields::PathElement::index(index) : fields::PathElement::field(step));
  }
  return path.empty() ? std::nullopt : std::optional(std::move(path));
}

Error wrong_patch(std::string_view attribute, std::string_view what) {
  return Error(ErrorKind::invalid, fmt::format("{} cannot be used: {}", attribute, what));
}

// What the API server would refuse in any object.
Result<void> check_operation(const Json& operation) {
  constexpr std::string_view kOperations = "add, remove, replace, move, copy, test";
  std::string_view name = operation["op"].string_or("");
  // Its value may be a secret.
  auto refuse = [&](std::string what) {
    return fail(ErrorKind::invalid, "{} {}: {}", name, operation["path"].string_or("").substr(0, 200), what);
  };
  bool is_known =
      !name.empty() && !name.contains(',') && fmt::format(", {},", kOperations).contains(fmt::format(" {},", name));
  if (!is_known) return refuse(fmt::format("\"op\" is none of {}", kOperations));
  bool has_source = name == "move" || name == "copy";
  for (const char* pointer : {"path", "from"}) {
    if (pointer == std::string_view("from") && !has_source) continue;
    if (!operation[pointer].string_or("").starts_with('/'))
      return refuse(fmt::format("\"{}\" is no path such as /metadata/labels/team", pointer));
  }
  bool needs_value = name == "add" || name == "replace" || name == "test";
  if (needs_value && !operation.contains("value")) return refuse("\"value\" is missing");
  return {};
}

Result<void> check_content(const PatchContent& content) {
  const Json& document = content.document;
  if (content.kind == PatchContent::Kind::json) {
    if (Result<void> valid = check_json_patch(document); !valid)
      return fail(wrong_patch(content.attribute, "it is no JSON Patch").because(valid.error()));
    for (const Json& operation : document.items())
      if (Result<void> valid = check_operation(operation); !valid)
        return fail(wrong_patch(content.attribute, "it has an operation that cannot work").because(valid.error()));
    return {};
  }
  if (!document.is_object() || document.members().empty())
    return fail(wrong_patch(content.attribute, "it is no object with fields"));
  for (std::string_view name : {"name", "namespace", "uid", "resourceVersion", "managedFields"})
    if (document["metadata"].contains(name))
      return fail(wrong_patch(content.attribute, fmt::format("metadata.{} is not part of a patch", name))
                      .next(fmt::format("remove metadata.{}; `target` says which object is patched", name)));
  if (document.contains("status")) return fail(wrong_patch(content.attribute, "controllers write the status"));
  return {};
}

}  // namespace

Result<PatchContent> PatchContent::read(const Value& config) {
  PatchContent content;
  for (size_t i = 0; i < std::size(kPatchAttributes); ++i) {
    const Value& value = config[kPatchAttributes[i]];
    if (value.is_null()) continue;
    if (!content.attribute.empty())
      return fail(Error(ErrorKind::invalid, "There are several patches")
                      .because(fmt::format("{} and {} are both set", content.attribute, kPatchAttributes[i]))
                      .next("set exactly one of patch, json_patch and merge_patch"));
    content.attribute = kPatchAttributes[i];
    content.kind = Kind(i);
    if (value.is_unknown()) continue;
    Result<Json> document = yaml::parse_one(value.string_or(""), content.attribute);
    if (!document) return fail(std::move(document).error().in(fmt::format("{} cannot be read", content.attribute)));
    content.document = *std::move(document);
    TRY(check_content(content));
  }
  if (content.attribute.empty())
    return fail(
        Error(ErrorKind::invalid, "There is no patch").next("set exactly one of patch, json_patch and merge_patch"));
  return content;
}

void check_patch(const Value& config, Diagnostics& found) {
  Result<PatchContent> content = PatchContent::read(config);
  if (content) return;
  Path path(kPatchAttributes[0]);
  for (std::string_view name : kPatchAttributes)
    if (!config[name].is_null()) path = Path(name);
  found.error(content.error(), path);
}

Json PatchContent::for_object(const Reference& reference, const Json& live) const {
  Json value = document;
  value.make("apiVersion") = reference.api_version;
  value.make("kind") = reference.kind();
  Json& metadata = value.make("metadata");
  metadata.make("name") = reference.key.name;
  // Otherwise an apply would create an object that was deleted just now.
  if (const Json& uid = live["metadata"]["uid"]; !uid.is_null()) metadata.make("uid") = uid;
  return value;
}

std::vector<fields::Path> PatchContent::places() const {
  std::vector<fields::Path> out;
  if (kind == Kind::merge) {
    fields::Path path;
    collect_merged(document, path, out);
  } else if (kind == Kind::json) {
    for (const Json& operation : document.items()) {
      if (operation["op"].string_or("") == "test") continue;
      if (auto place = place_of_pointer(operation["path"].string_or(""))) out.push_back(*std::move(place));
    }
  }
  return out;
}

}  // namespace fairlead::terraform

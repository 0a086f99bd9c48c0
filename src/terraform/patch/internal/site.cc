#include "terraform/patch/internal/site.h"

#include <fmt/format.h>

#include <algorithm>

#include "terraform/objects/attributes.h"
#include "terraform/projection/owner.h"
#include "terraform/projection/release.h"

namespace fairlead::terraform {
namespace {

using kube::FaultKind;

constexpr std::string_view kAbsentValue = "(absent)";

}  // namespace

const Schema& patch_schema() {
  static const Schema kSchema{
      .version = 0,
      .description = "Some fields of an object that something else manages.",
      .attributes = {reference_attribute("target", true, "The object. It has to exist."),
                     optional_attribute("patch", Type::string(),
                                        "The fields as a part of a manifest, applied by server-side apply."),
                     optional_attribute("json_patch", Type::string(), "A JSON Patch (RFC 6902)."),
                     optional_attribute("merge_patch", Type::string(), "A JSON Merge Patch (RFC 7386)."),
                     cluster_attribute(), cluster_gone_attribute(),
                     optional_attribute("sensitive_fields", Type::list(Type::string()),
                                        "Fields whose values are shown as digests. The data of Secrets always are."),
                     computed_attribute("id", Type::string(),
                                        "Identifies the patch, and is part of its field manager."),
                     computed_attribute("managed_fields", Type::map(Type::string()),
                                        "The field managers of the patched fields."),
                     computed_attribute("managed_state_projection", Type::map(Type::string()),
                                        "The values of the patched fields, as the cluster has them.")},
      .blocks = {}};
  return kSchema;
}

std::string manager_of(std::string_view id) { return fmt::format("{}-patch-{}", tool().field_manager, id); }

FieldRules patch_rules(const Value& value) {
  FieldRules rules;
  for (const std::string& text : texts_in(value["sensitive_fields"]))
    if (Result<fields::Path> place = parse_place(text)) rules.sensitive.push_back(*std::move(place));
  return rules;
}

Flat flat_in(const Json& json) {
  Flat flat;
  for (const Json::Member& member : json.members()) flat.emplace(member.key, member.value.string_or(""));
  return flat;
}

Json json_of(const Flat& flat) {
  Json::Object out;
  for (const auto& [path, value] : flat) out.append(path, value);
  return out;
}

Flat patched_values(const PatchContent& content, const Json& object, std::string_view manager,
                    const FieldRules& rules) {
  std::vector<fields::Path> places =
      content.kind == PatchContent::Kind::apply ? fields_of(object, manager) : content.places();
  Flat values = values_at(object, places, rules);
  for (const fields::Path& place : places) values.emplace(text_of_place(place), kAbsentValue);
  return values;
}

Flat values_now(const Json& object, const Flat& before, const FieldRules& rules) {
  Flat now;
  for (const auto& [text, value] : before) {
    Result<fields::Path> place = parse_place(text);
    if (!place) continue;
    Flat one = values_at(object, std::span(&*place, 1), rules);
    now.emplace(text, one.empty() ? std::string(kAbsentValue) : one.begin()->second);
  }
  return now;
}

Flat owners_at(const Json& object, const Flat& projection, const FieldRules& rules) {
  Flat owners = owners_of(object, rules), out;
  for (const auto& [text, value] : projection)
    if (auto found = owners.find(text); found != owners.end()) out.insert(*found);
  return out;
}

Task<kube::Outcome<bool>> PatchSite::find_kind() {
  auto kind = co_await cluster->discovery().find(reference.key.group, reference.version(), reference.kind());
  if (!kind) co_return std::unexpected(kind.error());
  if (!*kind) co_return false;
  resource = **kind;
  if (!resource.namespaced) reference.key.ns.clear();
  else if (reference.key.ns.empty()) reference.key.ns = cluster->default_namespace();
  co_return true;
}

Task<kube::Outcome<kube::Reply>> PatchSite::read() {
  co_return co_await cluster->client().get(resource, reference.key.ns, reference.key.name);
}

Task<kube::Outcome<kube::Reply>> PatchSite::send(const PatchContent& content, const Json& live, std::string manager,
                                                 bool dry_run) {
  kube::ApplyOptions options;
  options.field_manager = std::move(manager);
  options.dry_run = dry_run;
  options.force = true;
  if (content.kind == PatchContent::Kind::apply) {
    Json value = content.for_object(reference, live);
    co_return co_await cluster->client().apply(resource, reference.key.ns, reference.key.name, value, options);
  }
  kube::PatchType type = content.kind == PatchContent::Kind::json ? kube::PatchType::json : kube::PatchType::merge;
  co_return co_await cluster->client().patch(resource, reference.key.ns, reference.key.name, type, content.document,
                                             options);
}

Task<kube::Outcome<void>> PatchSite::release(std::string manager, std::optional<fields::FieldSet> only, Json before) {
  for (int attempt = 0; attempt < 5; ++attempt) {
    auto live = co_await read();
    if (!live && live.error().is(FaultKind::not_found)) co_return kube::Outcome<void>();
    if (!live) co_return std::unexpected(live.error());
    fields::FieldSet released = only ? *only : owned_by(live->value, manager);
    Json managed = managed_fields_after_release(live->value, manager, released, before);
    if (managed.is_null()) co_return kube::Outcome<void>();
    Json patch(
        Json::Array{Json::Object{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", std::move(managed)}},
                    Json::Object{{"op", "replace"},
                                 {"path", "/metadata/resourceVersion"},
                                 {"value", live->value["metadata"]["resourceVersion"]}}});
    kube::WriteOptions options;
    options.field_manager = manager;
    auto patched = co_await cluster->client().patch(resource, reference.key.ns, reference.key.name,
                                                    kube::PatchType::json, patch, options);
    if (patched) co_return kube::Outcome<void>();
    if (!patched.error().is(FaultKind::conflict)) co_return std::unexpected(patched.error());
  }
  co_return std::unexpected(Error(ErrorKind::unavailable, "others change the object all the time"));
}

}  // namespace fairlead::terraform

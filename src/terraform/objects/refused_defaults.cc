#include "terraform/objects/refused_defaults.h"

#include <algorithm>

#include "fields/managed_fields.h"
#include "fields/owned.h"
#include "terraform/projection/place.h"

namespace fairlead::terraform {
namespace {

bool has_owner(const Flat& owners, std::string_view place) {
  return std::ranges::any_of(owners, [&](const auto& owner) {
    std::string_view path = owner.first;
    return path.starts_with(place) &&
           (path.size() == place.size() || path[place.size()] == '.' || path[place.size()] == '[');
  });
}

bool has_only_names(const fields::Path& place) {
  return std::ranges::all_of(place, [](const fields::PathElement& one) { return one.if_field() != nullptr; });
}

// The manifest says something beside the field, and nothing about the field.
bool is_left_out(const Json& manifest, const fields::Path& place) {
  std::span<const fields::PathElement> around(place.data(), place.size() - 1);
  const Json* beside = find_place(manifest, around);
  return beside && beside->is_object() && !find_place(manifest, place);
}

}  // namespace

std::vector<fields::Path> refused_defaults(const kube::Failure& failure, const Json& manifest, const Flat& owners) {
  const kube::Fault* fault = failure.fault();
  if (!fault) return {};
  std::vector<fields::Path> places;
  for (const kube::FaultCause& cause : fault->causes) {
    Result<fields::Path> place = parse_place(cause.field);
    if (cause.reason != "FieldValueForbidden" || !place || place->size() < 2 || !has_only_names(*place) ||
        has_owner(owners, cause.field) || !is_left_out(manifest, *place))
      return {};
    places.push_back(*std::move(place));
  }
  return places;
}

Json with_ownership_of(std::span<const fields::Path> places, const Json& live, std::string_view manager) {
  std::optional<fields::ManagedEntry> entry = fields::applied_by(live, manager);
  Json value = entry ? fields::owned_part(live, entry->fields) : Json(Json::Object());
  value.make("apiVersion") = live["apiVersion"];
  value.make("kind") = live["kind"];
  value.make("metadata").make("name") = live["metadata"]["name"];
  for (const fields::Path& place : places) {
    const Json* there = find_place(live, place);
    if (!there || there->is_array()) return {};
    Json* at = &value;
    for (const fields::PathElement& name : place) at = &at->make(*name.if_field());
    // An object that is empty in what is applied is owned as a whole.
    *at = there->is_object() ? Json(Json::Object()) : *there;
  }
  return value;
}

}  // namespace fairlead::terraform

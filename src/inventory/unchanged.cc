#include "inventory/unchanged.h"

#include <algorithm>

#include "base/base64.h"
#include "fields/managed_fields.h"
#include "fields/owned.h"
#include "object/definition.h"
#include "object/key.h"
#include "schema/apply.h"
#include "schema/defaults/defaults.h"
#include "schema/defaults/stored.h"
#include "schema/types/builtin.h"
#include "schema/types/custom.h"
#include "schema/types/typed.h"
#include "schema/validation/structural.h"

namespace fairlead::inventory {
namespace {

using fields::FieldSet;
using fields::PathElement;

std::string place_of(std::string_view api_version, std::string_view kind) {
  return fmt::format("{} {}", api_version, kind);
}

// Finds out whether an apply affects other managers although it stores the same values. The server detects conflicts
// before it completes the object, and it makes the applying manager's entry the newest. So no other manager may own a
// field that differs at that point. And no other manager's apply entry may follow ours: entries are sorted by time, and
// another order would be a change of the object.
bool disturbs_others(const Json& live, std::string_view manager, const FieldSet& differs) {
  auto entries = fields::parse_managed_fields(live["metadata"]["managedFields"]);
  if (!entries) return true;
  bool behind_us = false;
  for (const fields::ManagedEntry& entry : *entries) {
    bool applies = entry.operation == fields::Operation::apply;
    if (applies && entry.manager == manager && entry.subresource.empty()) behind_us = true;
    else if ((behind_us && applies) || !entry.fields.intersected(differs).empty()) return true;
  }
  return false;
}

// Simulates the apply of the API server for a manager that owns the same fields before and after. This is for objects
// whose values the server has rewritten or completed.
bool applies_to_the_same(const Json& wanted, const Json& live, std::string_view manager, const Types::Known& known) {
  if (!schema::misfits(*known.schema, wanted, schema::Duplicates::refused).empty()) return false;
  Json merged = schema::merge(*known.schema, live, wanted);
  if (fields::equal_values(merged, live)) return true;
  Json result = as_stored(known, merged);
  // Manifest generators often write null here, and the server keeps its own value.
  if (wanted["metadata"]["creationTimestamp"].is_null())
    result.make("metadata").make("creationTimestamp") = live["metadata"]["creationTimestamp"];
  if (!fields::equal_values(result, live)) return false;
  schema::Comparison change = schema::compare(*known.schema, live, merged);
  return !disturbs_others(live, manager, change.modified.united(change.added).united(change.removed));
}

// For kinds without a schema. If the field set ends at a field, there are two possibilities: the server treats the
// field as atomic, or it is a structure that was empty when it was applied. In the second case, if the manifest now has
// something in it, an apply would take ownership of that. Only other managers that own parts of the field show which
// case it is.
class Doubt {
 public:
  explicit Doubt(const Json& live) : live_(live) {}

  bool about(const Json& wanted, const FieldSet& set) {
    for (const FieldSet::Node& node : set.nodes()) {
      path_.push_back(node.element);
      bool doubtful = about(wanted, node);
      path_.pop_back();
      if (doubtful) return true;
    }
    return false;
  }

 private:
  bool about(const Json& wanted, const FieldSet::Node& node) {
    if (const std::string* name = node.element.if_field()) {
      const Json& value = wanted[*name];
      if (!node.below.empty()) return node.member || about(value, node.below);
      if (value.is_object()) return !value.members().empty();
      return value.is_array() && !value.items().empty() && others_own_parts();
    }
    if (!node.member) return true;
    if (node.below.empty()) return node.element.if_value() == nullptr;
    const Json* item = nullptr;
    for (const Json& candidate : wanted.items()) {
      bool fits = node.element.if_key() && candidate.is_object();
      for (const PathElement::KeyField& field : fits ? *node.element.if_key() : PathElement::Key())
        fits = fits && fields::equal_values(candidate[field.name], field.value);
      if (fits && item) return true;
      if (fits) item = &candidate;
    }
    return !item || about(*item, node.below);
  }

  bool others_own_parts() {
    if (!entries_) entries_ = fields::parse_managed_fields(live_["metadata"]["managedFields"]);
    if (!*entries_) return true;
    for (const fields::ManagedEntry& entry : **entries_) {
      const FieldSet* set = &entry.fields;
      for (const PathElement& element : path_) set = &set->below(element);
      if (!set->empty()) return true;
    }
    return false;
  }

  const Json& live_;
  fields::Path path_;
  std::optional<Result<std::vector<fields::ManagedEntry>>> entries_;
};

}  // namespace

Json as_stored(const Types::Known& known, const Json& object) {
  if (known.custom) return schema::stored_form(*known.schema, schema::with_structural_defaults(known.open_api, object));
  Json out = schema::with_defaults(*known.schema, schema::stored_form(*known.schema, object));
  if (out["kind"].string_or("") == "Secret") return with_strings_as_data(std::move(out));
  if (out["kind"].string_or("") != "StatefulSet") return out;
  // The server treats the claim templates of a StatefulSet as objects of their own.
  if (!out["spec"]["volumeClaimTemplates"].is_array()) return out;
  for (Json& claim : *out.make("spec").make("volumeClaimTemplates").if_array()) {
    claim.make("apiVersion") = "v1";
    claim.make("kind") = "PersistentVolumeClaim";
  }
  return out;
}

Json with_strings_as_data(Json secret) {
  auto is_text = [](const Json::Member& member) { return member.value.if_string() != nullptr; };
  if (!secret["stringData"].is_object() || !std::ranges::all_of(secret["stringData"].members(), is_text)) return secret;
  Json strings = secret["stringData"];
  for (const auto& [name, text] : strings.members()) secret.make("data").make(name) = to_base64(text.string_or(""));
  secret.if_object()->erase("stringData");
  return secret;
}

void Types::learn(const Json& definition) {
  object::Definition kind(definition);
  for (std::string_view version : kind.versions()) {
    const Json& open_api = kind.schema_of(version);
    known_.insert_or_assign(place_of(fmt::format("{}/{}", kind.group(), version), kind.kind()),
                            Known{schema::custom_schema(open_api, kind.preserves_unknown_fields()), open_api, true});
  }
}

const Types::Known& Types::find(std::string_view api_version, std::string_view kind) {
  std::string place = place_of(api_version, kind);
  if (auto found = known_.find(place); found != known_.end()) return found->second;
  Known known;
  if (Result<object::ApiVersion> version = object::ApiVersion::parse(api_version))
    known.schema = schema::builtin_schema(version->group, version->version, kind);
  return known_.emplace(std::move(place), std::move(known)).first->second;
}

bool unchanged(const Json& wanted, const Json& live, std::string_view manager, Types& types) {
  std::string_view api_version = wanted["apiVersion"].string_or(""), kind = wanted["kind"].string_or("");
  if (!wanted.is_object() || !live.is_object() || live["apiVersion"].string_or("") != api_version ||
      live["kind"].string_or("") != kind || wanted.contains("status"))
    return false;
  std::optional<fields::ManagedEntry> entry = fields::applied_by(live, manager);
  if (!entry || entry->api_version != api_version) return false;
  // Managers with entries in a version that is no longer served lose their fields at the next apply by anybody.
  for (const Json& other : live["metadata"]["managedFields"].items())
    if (std::string_view version = other["apiVersion"].string_or("");
        version != api_version && !types.find(version, kind).schema)
      return false;

  const Types::Known& known = types.find(api_version, kind);
  if (!known.schema) return fields::is_unchanged(wanted, live, manager) && !Doubt(live).about(wanted, entry->fields);
  if (schema::field_set(*known.schema, wanted).without(schema::server_fields()) != entry->fields) return false;
  return fields::is_unchanged(wanted, live, manager) || applies_to_the_same(wanted, live, manager, known);
}

}  // namespace fairlead::inventory

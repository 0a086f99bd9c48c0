#include "schema/validation/structural.h"

#include <fmt/format.h>

#include <algorithm>

#include "schema/defaults/stored.h"
#include "schema/types/builtin.h"
#include "schema/validation/decode.h"

namespace fairlead::schema {
namespace {

const Json* schema_of_member(const Json* schema, std::string_view key) {
  if (!schema) return nullptr;
  if (const Json* property = (*schema)["properties"].members().find(key)) return property;
  const Json& extra = (*schema)["additionalProperties"];
  return extra.is_object() ? &extra : nullptr;
}

const Json* schema_of_items(const Json* schema) {
  return schema && (*schema)["items"].is_object() ? &(*schema)["items"] : nullptr;
}

bool flag(const Json* schema, std::string_view name) { return schema && (*schema)[name].bool_or(false); }

bool is_meta(std::string_view key) { return key == "apiVersion" || key == "kind" || key == "metadata"; }

// Whether there may be members of any name, with or without a schema of their own.
bool takes_any(const Json* schema) {
  const Json& extra = (*schema)["additionalProperties"];
  return extra.is_object() || extra.bool_or(false);
}

class Pruner {
 public:
  std::vector<std::string> unknown;

  void visit(Json& value, const Json* schema, bool resource) {
    bool preserve = flag(schema, "x-kubernetes-preserve-unknown-fields");
    resource |= flag(schema, "x-kubernetes-embedded-resource");
    if (Json::Array* list = value.if_array()) {
      for (size_t i = 0; i < list->size(); ++i)
        at(fmt::format("[{}]", i), [&] {
          // What is in a list that may hold anything is kept whole, unless the items say more.
          if (!preserve || schema_of_items(schema)) visit((*list)[i], schema_of_items(schema), false);
        });
    }
    Json::Object* object = value.if_object();
    if (!object) return;
    Json::Object kept;
    for (Json::Member& member : *object) {
      const Json* below = schema_of_member(schema, member.key);
      if (resource && is_meta(member.key)) {
        kept.append(member.key, std::move(member.value));
      } else if (below || preserve || (schema && takes_any(schema))) {
        if (below) at(path_.empty() ? member.key : "." + member.key, [&] { visit(member.value, below, false); });
        kept.append(member.key, std::move(member.value));
      } else {
        unknown.push_back(path_.empty() ? member.key : path_ + "." + member.key);
      }
    }
    *object = std::move(kept);
  }

 private:
  template <class Visit>
  void at(const std::string& step, Visit go) {
    size_t length = path_.size();
    path_ += step;
    go();
    path_.resize(length);
  }

  std::string path_;
};

bool unwanted_null(const Json& value, const Json* schema) {
  return value.is_null() && schema && !flag(schema, "nullable");
}

// `even_defaulted`: those that a default would replace as well.
void drop_nulls(Json& value, const Json* schema, bool even_defaulted) {
  if (Json::Array* list = value.if_array())
    for (Json& item : *list) drop_nulls(item, schema_of_items(schema), even_defaulted);
  Json::Object* object = value.if_object();
  if (!object) return;
  Json::Object kept;
  for (Json::Member& member : *object) {
    const Json* below = schema_of_member(schema, member.key);
    if (unwanted_null(member.value, below) && (even_defaulted || !below->contains("default"))) continue;
    drop_nulls(member.value, below, even_defaulted);
    kept.append(member.key, std::move(member.value));
  }
  *object = std::move(kept);
}

void fill(Json& value, const Json* schema) {
  if (!schema) return;
  if (Json::Array* list = value.if_array()) {
    const Json* items = schema_of_items(schema);
    for (Json& item : *list) {
      if (unwanted_null(item, items)) item = (*items)["default"];
      fill(item, items);
    }
  }
  Json::Object* object = value.if_object();
  if (!object) return;
  for (const Json::Member& property : (*schema)["properties"].members()) {
    const Json& fallback = property.value["default"];
    if (fallback.is_null()) continue;
    const Json* there = object->find(property.key);
    if (!there || unwanted_null(*there, &property.value)) (*object)[property.key] = fallback;
  }
  for (Json::Member& member : *object) {
    const Json* below = schema_of_member(schema, member.key);
    bool named = (*schema)["properties"].contains(member.key);
    if (!named && unwanted_null(member.value, below)) member.value = (*below)["default"];
    fill(member.value, below);
  }
}

// Metadata is the same everywhere, whatever the schema says.
const Schema& metadata_schema() {
  static const SchemaPtr kMeta = [] {
    auto schema = std::make_shared<Schema>();
    schema->root = add_builtin_type(*schema, "meta.v1.ObjectMeta");
    return schema;
  }();
  return *kMeta;
}

// The metadata of the object itself and of those that it embeds.
void prune_metadata(Json& value, const Json* schema, bool resource, const std::string& path,
                    std::vector<std::string>& unknown) {
  if (!schema) return;
  if (Json::Array* list = value.if_array())
    for (size_t i = 0; i < list->size(); ++i)
      prune_metadata((*list)[i], schema_of_items(schema), false, fmt::format("{}[{}]", path, i), unknown);
  Json::Object* object = value.if_object();
  if (!object) return;
  resource |= flag(schema, "x-kubernetes-embedded-resource");
  for (Json::Member& member : *object) {
    std::string here = path.empty() ? member.key : path + "." + member.key;
    if (resource && member.key == "metadata" && member.value.is_object()) {
      for (const std::string& field : decode(metadata_schema(), member.value).unknown)
        unknown.push_back(here + "." + field);
      member.value = stored_form(metadata_schema(), member.value);
    } else if (const Json* below = schema_of_member(schema, member.key)) {
      prune_metadata(member.value, below, false, here, unknown);
    }
  }
}

}  // namespace

Pruned prune(const Json& schema, const Json& object) {
  Pruned out{object, {}};
  if (schema.is_null()) return out;
  Pruner pruner;
  pruner.visit(out.object, &schema, true);
  drop_nulls(out.object, &schema, false);
  std::sort(pruner.unknown.begin(), pruner.unknown.end());
  prune_metadata(out.object, &schema, true, "", out.unknown);
  std::sort(out.unknown.begin(), out.unknown.end());
  out.unknown.insert(out.unknown.end(), pruner.unknown.begin(), pruner.unknown.end());
  return out;
}

Json without_unwanted_nulls(const Json& schema, Json object) {
  drop_nulls(object, &schema, true);
  return object;
}

Json with_structural_defaults(const Json& schema, const Json& object) {
  Json out = object;
  if (!schema.is_null()) fill(out, &schema);
  return out;
}

bool uses_cel(const Json& schema) {
  if (schema.contains("x-kubernetes-validations")) return true;
  for (const Json::Member& property : schema["properties"].members())
    if (uses_cel(property.value)) return true;
  for (std::string_view name : {"allOf", "anyOf", "oneOf"})
    for (const Json& one : schema[name].items())
      if (uses_cel(one)) return true;
  for (std::string_view name : {"items", "additionalProperties", "not"})
    if (schema[name].is_object() && uses_cel(schema[name])) return true;
  return false;
}

}  // namespace fairlead::schema

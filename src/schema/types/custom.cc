#include "schema/types/custom.h"

#include <algorithm>

#include "schema/types/builtin.h"

namespace fairlead::schema {
namespace {

constexpr std::string_view kObjectMeta = "meta.v1.ObjectMeta";

class CustomReader {
 public:
  explicit CustomReader(Schema& schema)
      : schema_(schema),
        meta_(add_builtin_type(schema, kObjectMeta)),
        whole_(add_builtin_type(schema, "=whole")),
        deduced_(add_builtin_type(schema, "=deduced")) {}

  TypeId read(const Json& json, bool preserve) {
    preserve |= json["x-kubernetes-preserve-unknown-fields"].bool_or(false);
    std::string_view form = json["type"].string_or("");
    Type type;
    if (form == "object") {
      read_map(json, preserve, type);
    } else if (form == "array") {
      read_list(json, preserve, type);
    } else if (form.empty()) {
      type.scalar = Scalar::any;
      read_list(json, preserve, type);
      read_map(json, preserve, type);
    } else {
      type.scalar = scalar(form, json["format"].string_or(""));
    }
    return add(std::move(type));
  }

  // Everything goes but what every object has a say in.
  TypeId root(const Json& json, bool preserve) {
    if (json.is_null()) return add(Type{.map = MapKind::granular, .element = deduced_, .deduced = true});
    TypeId id = read(json, preserve);
    Type& type = schema_.types[id];
    if (type.map == MapKind::none) type.map = MapKind::granular;
    add_object_fields(type);
    return id;
  }

 private:
  TypeId add(Type type) {
    schema_.types.push_back(std::move(type));
    return TypeId(schema_.types.size() - 1);
  }

  static Scalar scalar(std::string_view form, std::string_view format) {
    if (form == "string") return format.empty() || format == "byte" ? Scalar::string : Scalar::any;
    if (form == "boolean") return Scalar::boolean;
    if (form == "integer") return Scalar::int64;
    if (form == "number") return Scalar::number;
    return Scalar::any;
  }

  void read_list(const Json& json, bool preserve, Type& type) {
    std::string_view kind = json["x-kubernetes-list-type"].string_or("atomic");
    type.list = kind == "map" ? ListKind::map : kind == "set" ? ListKind::set : ListKind::atomic;
    if (type.list == ListKind::map)
      for (const Json& key : json["x-kubernetes-list-map-keys"].items()) type.keys.emplace_back(key.string_or(""));
    type.item = json.contains("items") ? read(json["items"], preserve) : whole_;
  }

  void read_map(const Json& json, bool preserve, Type& type) {
    type.map = json["x-kubernetes-map-type"].string_or("") == "atomic" ? MapKind::atomic : MapKind::granular;
    for (const Json::Member& property : json["properties"].members()) {
      Field field{.name = property.key, .type = read(property.value, preserve)};
      if (const Json* fallback = property.value.members().find("default")) field.fallback = *fallback;
      type.fields.push_back(std::move(field));
    }
    for (const Json& name : json["required"].items())
      for (Field& field : type.fields) field.required |= field.name == name.string_or("");
    const Json& extra = json["additionalProperties"];
    if (extra.is_object()) type.element = read(extra, preserve);
    else if (extra.is_bool()) type.element = extra.bool_or(false) ? deduced_ : kNoType;
    else if (preserve || type.fields.empty()) type.element = deduced_;
    type.deduced = type.fields.empty() && type.element != kNoType &&
                   (type.element == deduced_ || schema_.types[type.element].scalar == Scalar::any);
    if (json["x-kubernetes-embedded-resource"].bool_or(false)) add_object_fields(type);
    sort(type);
  }

  void add_object_fields(Type& type) {
    std::erase_if(type.fields, [](const Field& field) {
      return field.name == "apiVersion" || field.name == "kind" || field.name == "metadata";
    });
    TypeId string = schema_[meta_].field("name")->type;
    type.fields.push_back({.name = "apiVersion", .type = string, .fallback = {}});
    type.fields.push_back({.name = "kind", .type = string, .fallback = {}});
    type.fields.push_back({.name = "metadata", .type = meta_, .fallback = {}});
    type.deduced = false;
    sort(type);
  }

  static void sort(Type& type) {
    std::sort(type.fields.begin(), type.fields.end(), [](const Field& a, const Field& b) { return a.name < b.name; });
  }

  Schema& schema_;
  TypeId meta_, whole_, deduced_;
};

}  // namespace

SchemaPtr custom_schema(const Json& open_api_v3_schema, bool preserve_unknown_fields) {
  auto schema = std::make_shared<Schema>();
  schema->root = CustomReader(*schema).root(open_api_v3_schema, preserve_unknown_fields);
  return schema;
}

}  // namespace fairlead::schema

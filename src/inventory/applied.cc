#include "inventory/applied.h"

#include "object/key.h"

namespace fairlead::inventory {
namespace {

Json overlaid(const Json& live, const Json& wanted) {
  if (!live.is_object() || !wanted.is_object()) return wanted;
  Json result = live;
  for (const auto& [name, value] : wanted.members()) result.make(name) = overlaid(live[name], value);
  return result;
}

schema::Target target_of(const Json& wanted, const Json& live, const Types::Known& known, Types& types) {
  schema::Target target;
  target.api_version = wanted["apiVersion"].string_or("");
  target.kind = wanted["kind"].string_or("");
  target.versions[target.api_version] = known.schema;
  // Other managers may have written in other versions.
  for (const Json& entry : live["metadata"]["managedFields"].items()) {
    std::string version(entry["apiVersion"].string_or(""));
    if (schema::SchemaPtr schema = types.find(version, target.kind).schema) target.versions.emplace(version, schema);
  }
  if (Result<object::ApiVersion> version = object::ApiVersion::parse(target.api_version))
    target.reset = schema::reset_fields(version->group, target.kind, "", true);
  target.complete = [&known](const Json& object) { return as_stored(known, object); };
  return target;
}

}  // namespace

std::expected<Json, schema::Refusal> applied(const Json& wanted, const Json& live, const schema::Writer& writer,
                                             Types& types) {
  const Types::Known& known = types.find(wanted["apiVersion"].string_or(""), wanted["kind"].string_or(""));
  if (!known.schema) return overlaid(live, wanted);
  std::expected<Json, schema::Refusal> result =
      schema::apply(target_of(wanted, live, known, types), live, wanted, writer);
  if (result && !live.is_null()) schema::keep_times(live, *result);
  return result;
}

}  // namespace fairlead::inventory

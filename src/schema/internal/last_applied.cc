#include "schema/internal/last_applied.h"

#include <algorithm>

#include "schema/types/typed.h"

namespace fairlead::schema {
namespace {

constexpr std::string_view kAnnotation = "kubectl.kubernetes.io/last-applied-configuration";
constexpr size_t kLargestAnnotations = 256 << 10;

std::string_view annotation_of(const Json& object) {
  return object["metadata"]["annotations"][kAnnotation].string_or("");
}

// As Go writes maps: members by name.
Json in_order(const Json& value) {
  if (const Json::Array* items = value.if_array()) {
    Json::Array out;
    for (const Json& item : *items) out.push_back(in_order(item));
    return out;
  }
  if (!value.is_object()) return value;
  std::vector<const Json::Member*> members;
  for (const Json::Member& member : value.members()) members.push_back(&member);
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  Json::Object out;
  for (const Json::Member* member : members) out.append(member->key, in_order(member->value));
  return out;
}

// And as Go writes strings: so that they can stand in HTML. Outside of strings JSON has none of these.
std::string annotation_text(const Json& value) {
  std::string out;
  for (char c : in_order(value).dump()) {
    if (c == '<') out += "\\u003c";
    else if (c == '>') out += "\\u003e";
    else if (c == '&') out += "\\u0026";
    else out += c;
  }
  return out + "\n";
}

}  // namespace

fields::FieldSet last_applied_fields(const Schema& schema, std::string_view api_version, const Json& live) {
  std::string_view text = annotation_of(live);
  if (text.empty()) return {};
  Result<Json> applied = Json::parse(text);
  if (!applied || (*applied)["apiVersion"].string_or("") != api_version) return {};
  if (!misfits(schema, *applied, Duplicates::refused).empty()) return {};
  Comparison change = compare(schema, *applied, live);
  return field_set(schema, *applied).without(change.modified).without(change.added).without(change.removed);
}

void renew_last_applied(const Json& configuration, Json& object) {
  if (annotation_of(object).empty()) return;
  Json applied = configuration;
  if (applied["metadata"]["annotations"].is_object()) {
    Json& metadata = applied.make("metadata");
    Json::Object& annotations = *metadata.make("annotations").if_object();
    annotations.erase(kAnnotation);
    if (annotations.empty()) metadata.if_object()->erase("annotations");
  }
  Json::Object& annotations = *object.make("metadata").make("annotations").if_object();
  annotations[kAnnotation] = annotation_text(applied);
  size_t size = 0;
  for (const Json::Member& one : annotations) size += one.key.size() + one.value.string_or("").size();
  if (size > kLargestAnnotations) annotations.erase(kAnnotation);
}

}  // namespace fairlead::schema

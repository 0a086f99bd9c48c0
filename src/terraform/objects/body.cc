#include "terraform/objects/body.h"

#include <fmt/format.h>

#include "inventory/unchanged.h"
#include "manifest/secrets.h"
#include "terraform/projection/owner.h"
#include "yaml/yaml.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kSetByServer[] = {
    "uid",      "resourceVersion",   "generation",    "creationTimestamp",
    "selfLink", "deletionTimestamp", "managedFields", "deletionGracePeriodSeconds"};

Error wrong_body(std::string_view attribute, std::string what) {
  return Error(ErrorKind::invalid, fmt::format("{} cannot be used: {}", attribute, what));
}

Result<void> check_body(const Json& value, std::string_view attribute) {
  if (std::string_view kind = value["kind"].string_or(""); kind == "List" && value["items"].is_array())
    return fail(wrong_body(attribute, "it is a List of several objects")
                    .next("write one resource per object, or use fairlead_bundle"));
  const Json& metadata = value["metadata"];
  if (metadata.contains("generateName"))
    return fail(wrong_body(attribute, "metadata.generateName gives the object another name at each apply")
                    .next("set metadata.name"));
  for (std::string_view name : kSetByServer)
    if (metadata.contains(name))
      return fail(wrong_body(attribute, fmt::format("only the API server sets metadata.{}", name))
                      .next(fmt::format("remove metadata.{} from the manifest", name)));
  if (value.contains("status"))
    return fail(wrong_body(attribute, "status is written by controllers, not by apply")
                    .next("remove status from the manifest"));
  if (metadata["annotations"].contains(tool().owner_annotation))
    return fail(
        wrong_body(attribute, fmt::format("the annotation {} belongs to this provider", tool().owner_annotation))
            .next("remove the annotation from the manifest"));
  return {};
}

}  // namespace

Result<object::Object> read_body(std::string_view text, std::string_view attribute) {
  yaml::Stream stream(text, std::string(attribute));
  std::optional<Result<yaml::Document>> first = stream.next();
  if (!first)
    return fail(wrong_body(attribute, "it has no object").next("write one manifest: apiVersion, kind, metadata"));
  if (!*first) return fail(std::move(first->error()).in(fmt::format("{} cannot be read", attribute)));
  std::optional<Result<yaml::Document>> second = stream.next();
  if (second && !*second) return fail(std::move(second->error()).in(fmt::format("{} cannot be read", attribute)));
  if (second)
    return fail(wrong_body(attribute, "it has more than one document")
                    .next("use for_each with data.fairlead_manifests, or fairlead_bundle"));
  TRY(check_body((*first)->value, attribute));
  Result<object::Object> object = object::Object::from(std::move((*first)->value));
  if (!object) return fail(std::move(object).error().in(fmt::format("{} cannot be used", attribute)));
  return object;
}

Json as_applied(const object::Object& object, std::string_view id, const FieldRules& rules, bool exists) {
  Json value = object.value();
  if (object.kind() == "Secret" && object.group().empty()) value = inventory::with_strings_as_data(std::move(value));
  if (exists)
    for (const fields::Path& path : rules.ignored) erase_place(value, path);
  if (!id.empty()) value.make("metadata").make("annotations").make(tool().owner_annotation) = id;
  return value;
}

Secrets secrets_of(const object::Object& object, const FieldRules& rules) {
  manifest::Bundle bundle;
  bundle.objects.push_back(object);
  Secrets secrets = manifest::secrets_of(bundle);
  for (const fields::Path& path : rules.sensitive)
    if (const Json* value = find_place(object.value(), path))
      secrets.hide(value->is_string() ? std::string(value->string_or("")) : value->dump());
  return secrets;
}

}  // namespace fairlead::terraform

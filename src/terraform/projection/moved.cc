#include "terraform/projection/moved.h"

#include <fmt/format.h>

#include "diff/diff.h"
#include "diff/yaml_text.h"
#include "terraform/projection/owner.h"

namespace fairlead::terraform {
namespace {

constexpr std::string_view kRevisionAnnotation = "deployment.kubernetes.io/revision";
constexpr std::string_view kK8sconnectAnnotations[] = {"k8sconnect.terraform.io/terraform-id",
                                                       "k8sconnect.terraform.io/created-at"};

// Terraform writes values of the type `dynamic` with their type beside them.
const Json& plain_value(const Json& dynamic) {
  return dynamic.contains("type") && dynamic.contains("value") ? dynamic["value"] : dynamic;
}

// Attributes that nobody set are null in kubernetes_manifest's state.
Json without_nulls(const Json& value) {
  if (value.is_array()) {
    Json::Array items;
    for (const Json& item : value.items()) items.push_back(without_nulls(item));
    return items;
  }
  if (!value.is_object()) return value;
  Json::Object members;
  for (const Json::Member& member : value.members())
    if (!member.value.is_null()) members.append(member.key, without_nulls(member.value));
  return members;
}

}  // namespace

Json as_manifest(Json object) {
  object = diff::visible(std::move(object));
  Json::Object* metadata = object.is_object() ? object.make("metadata").if_object() : nullptr;
  Json* annotations = metadata ? metadata->find("annotations") : nullptr;
  if (!annotations || !annotations->is_object()) return object;
  annotations->if_object()->erase(kRevisionAnnotation);
  annotations->if_object()->erase(tool().owner_annotation);
  for (std::string_view name : kK8sconnectAnnotations) annotations->if_object()->erase(name);
  if (annotations->members().empty()) metadata->erase("annotations");
  return object;
}

Result<MovedObject> read_moved(std::string_view source_type, const Json& source_state) {
  MovedObject moved;
  if (source_type == "k8sconnect_object") {
    moved.yaml_body = source_state["yaml_body"].string_or("");
    moved.cluster = source_state["cluster"];
    moved.force_destroy = source_state["force_destroy"].bool_or(false);
    moved.delete_protection = source_state["delete_protection"].bool_or(false);
    moved.field_manager = "k8sconnect";
  } else if (source_type == "kubectl_manifest") {
    moved.yaml_body = source_state["yaml_body"].string_or("");
    std::string_view manager = source_state["field_manager"].string_or("");
    moved.field_manager = manager.empty() ? "kubectl" : manager;
  } else if (source_type == "kubernetes_manifest") {
    const Json& manifest = plain_value(source_state["manifest"]);
    if (manifest.is_object()) moved.yaml_body = diff::yaml_text(without_nulls(manifest));
    std::string_view manager = source_state["field_manager"].item(0)["name"].string_or("");
    moved.field_manager = manager.empty() ? "Terraform" : manager;
  } else {
    return fail(
        Error(ErrorKind::invalid, fmt::format("a {} cannot be moved to fairlead_object", source_type))
            .because("state is taken over from k8sconnect_object, kubectl_manifest and kubernetes_manifest only")
            .next("use an `import` block, and a `removed` block for the former resource"));
  }
  if (moved.yaml_body.empty())
    return fail(Error(ErrorKind::invalid, fmt::format("the state of this {} has no manifest", source_type))
                    .next("use an `import` block, and a `removed` block for the former resource"));
  return moved;
}

}  // namespace fairlead::terraform

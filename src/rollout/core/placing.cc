#include "rollout/core/placing.h"

#include "admission/client_config.h"
#include "object/containers.h"
#include "object/definition.h"
#include "object/placement.h"

namespace fairlead::rollout {
namespace {

using object::Object;
using object::Resource;

void drop_placeholder(Json& client_config) {
  Json::Object* members = client_config.if_object();
  if (!members) return;
  const Json* bundle = members->find("caBundle");
  if (bundle && !admission::has_certificate(bundle->string_or(""))) members->erase("caBundle");
}

}  // namespace

Kinds::Kinds(const kube::Discovered& discovered, const manifest::Bundle& bundle) : discovered_(discovered) {
  for (const Object& object : bundle.objects)
    if (is_crd(object.key()))
      for (Resource& resource : object::Definition(object.value()).resources()) defined_.push_back(std::move(resource));
}

const Resource* Kinds::find(std::string_view group, std::string_view version, std::string_view kind) const {
  for (const Resource& resource : defined_)
    if (resource.kind == kind && resource.group == group && resource.version == version) return &resource;
  return discovered_.find(group, version, kind);
}

std::optional<Error> place(Object& object, const Resource& resource, const Options& options) {
  object::Key key = object.key();
  std::optional<Error> error = object::place(
      key, resource.namespaced, {.name = options.default_namespace, .is_chosen = options.namespace_is_chosen});
  if (error) return std::move(*error).at(object.source().text());
  object.set_namespace(key.ns);
  return std::nullopt;
}

manifest::Errors place(manifest::Bundle& bundle, const Kinds& kinds, const Options& options) {
  manifest::Errors errors;
  for (Object& object : bundle.objects)
    if (const Resource* resource = kinds.of(object))
      if (auto error = place(object, *resource, options)) errors.push_back(*error);
  return errors;
}

const Json* find_definition(const manifest::Bundle& bundle, const std::vector<Json>& definitions,
                            const object::Key& key) {
  for (const Object& object : bundle.objects)
    if (is_crd(object.key()) && object::Definition(object.value()).defines(key.group, key.kind)) return &object.value();
  for (const Json& definition : definitions)
    if (object::Definition(definition).defines(key.group, key.kind)) return &definition;
  return nullptr;
}

void leave_to_injectors(Json& object) {
  std::string_view kind = object["kind"].string_or("");
  if (kind == "ValidatingWebhookConfiguration" || kind == "MutatingWebhookConfiguration") {
    if (Json::Array* hooks = object.make("webhooks").if_array())
      for (Json& hook : *hooks)
        if (hook.contains("clientConfig")) drop_placeholder(hook.make("clientConfig"));
  } else if (kind == "CustomResourceDefinition") {
    if (object["spec"]["conversion"]["webhook"]["clientConfig"].is_object())
      drop_placeholder(object.make("spec").make("conversion").make("webhook").make("clientConfig"));
  } else if (kind == "APIService") {
    if (object["spec"].is_object()) drop_placeholder(object.make("spec"));
  }
}

}  // namespace fairlead::rollout

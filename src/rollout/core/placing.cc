#include "rollout/core/placing.h"

#include "base/base64.h"

namespace fairlead::rollout {
namespace {

using object::Object;
using object::Resource;

void add_defined(const Object& object, std::deque<Resource>& defined) {
  if (object.group() != "apiextensions.k8s.io" || object.kind() != "CustomResourceDefinition") return;
  const Json& spec = object.value()["spec"];
  for (const Json& version : spec["versions"].items()) {
    if (!version["served"].bool_or(false)) continue;
    defined.push_back({.group = std::string(spec["group"].string_or("")),
                       .version = std::string(version["name"].string_or("")),
                       .kind = std::string(spec["names"]["kind"].string_or("")),
                       .plural = std::string(spec["names"]["plural"].string_or("")),
                       .singular = std::string(spec["names"]["singular"].string_or("")),
                       .namespaced = spec["scope"].string_or("") == "Namespaced",
                       .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"}});
  }
}

bool is_certificate(std::string_view base64) {
  std::optional<std::string> text = from_base64(base64);
  return text && text->find("-----BEGIN") != std::string::npos;
}

void drop_placeholder(Json& client_config) {
  Json::Object* members = client_config.if_object();
  if (!members) return;
  const Json* bundle = members->find("caBundle");
  if (bundle && !is_certificate(bundle->string_or(""))) members->erase("caBundle");
}

}  // namespace

Kinds::Kinds(const kube::Discovered& discovered, const manifest::Bundle& bundle) : discovered_(discovered) {
  for (const Object& object : bundle.objects) add_defined(object, defined_);
}

const Resource* Kinds::find(std::string_view group, std::string_view version, std::string_view kind) const {
  for (const Resource& resource : defined_)
    if (resource.kind == kind && resource.group == group && resource.version == version) return &resource;
  return discovered_.find(group, version, kind);
}

std::optional<Error> place(Object& object, const Resource& resource, const Options& options) {
  if (!resource.namespaced) {
    object.set_namespace("");
    return std::nullopt;
  }
  if (object.ns().empty()) {
    object.set_namespace(options.default_namespace);
  } else if (options.namespace_is_chosen && object.ns() != options.default_namespace) {
    return Error(ErrorKind::invalid, fmt::format("{} is not for the namespace that was asked for, {}",
                                                 object.key().text(), options.default_namespace))
        .at(object.source().text())
        .next(fmt::format("fairlead apply --namespace={} …, or no --namespace at all", object.ns()));
  }
  return std::nullopt;
}

manifest::Errors place(manifest::Bundle& bundle, const Kinds& kinds, const Options& options) {
  manifest::Errors errors;
  for (Object& object : bundle.objects)
    if (const Resource* resource = kinds.of(object))
      if (auto error = place(object, *resource, options)) errors.push_back(*error);
  return errors;
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

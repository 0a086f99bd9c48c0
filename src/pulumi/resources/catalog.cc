#include "pulumi/resources/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "terraform/bundle/bundle.h"
#include "terraform/cluster/cluster_attribute.h"
#include "terraform/data/guards_data.h"
#include "terraform/data/object_data.h"
#include "terraform/data/webhook_data.h"
#include "terraform/object/object.h"
#include "terraform/objects/body.h"
#include "terraform/objects/reference.h"
#include "terraform/wait/wait.h"

namespace fairlead::pulumi {
namespace {

using terraform::Reference;
using terraform::Value;

// True if `whole` has everything that `part` has. Lists have to be as long.
bool has_all(const Json& whole, const Json& part) {
  if (part.is_object())
    return std::ranges::all_of(part.members(), [&](const Json::Member& member) {
      return whole.contains(member.key) && has_all(whole[member.key], member.value);
    });
  if (!part.is_array()) return whole == part;
  if (!whole.is_array() || whole.items().size() != part.items().size()) return false;
  for (size_t i = 0; i < part.items().size(); ++i)
    if (!has_all(whole.item(i), part.item(i))) return false;
  return true;
}

Result<Json> manifest_of(const Value& value) {
  TRY_ASSIGN(object::Object object, terraform::read_body(value["yaml_body"].string_or(""), "manifest"));
  return object.value();
}

Result<std::string> import_id_of_object(std::string_view id) {
  std::optional<Reference> reference = Reference::from_id(id);
  if (!reference)
    return fail(Error(ErrorKind::invalid, fmt::format("\"{}\" is not the id of an object", id))
                    .because("an id has the form APIVERSION/KIND:NAMESPACE/NAME, or APIVERSION/KIND:NAME for kinds "
                             "without namespaces")
                    .next("for example: apps/v1/Deployment:shop/web"));
  bool is_secret = reference->key.kind == "Secret" && reference->key.group.empty();
  if (is_secret)
    return fail(Error(ErrorKind::invalid, fmt::format("{} is not imported", reference->key.text()))
                    .because("the program that an import writes would have the values of the Secret in it")
                    .next("write the Secret in the program, with adopt: true"));
  return fmt::format(
      "{}{}{}api_version={},kind={},name={}", reference->key.ns.empty() ? "" : "namespace=", reference->key.ns,
      reference->key.ns.empty() ? "" : ",", reference->api_version, reference->key.kind, reference->key.name);
}

constexpr std::string_view kCluster =
    "How to connect to the cluster of this resource, if it is not the provider's. Without `kubeconfig` and `host`, the "
    "cluster that kubectl would use.";
constexpr std::string_view kKubeconfig =
    "The path or the content of a kubeconfig file; the files of kubectl if neither this nor `host` is set.";
constexpr std::string_view kContext = "The context in the kubeconfig; its current context if it is not set.";

ResourceFacade object_facade() {
  ResourceFacade facade;
  facade.name = "KubeObject";
  facade.description =
      "One Kubernetes object, applied by server-side apply. Its create is sent again while the webhooks that guard it, "
      "its "
      "namespace or its CRD are not there yet.";
  facade.resource = terraform::make_object_resource();
  facade.schema = &facade.resource->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.hidden = {"yaml_body_wo", "yaml_body_wo_version", "delete_protection",
                   "apply_only",   "cluster_gone",         "timeouts"};
  facade.renamed = {{"yaml_body", "yaml"}};
  facade.free_form = FreeForm{.property = "manifest",
                              .attribute = "yaml_body",
                              .description = "The manifest of one object. Set either this or `yaml`."};
  facade.create_time = "timeouts.create";
  facade.update_time = "timeouts.update";
  facade.delete_time = "delete_timeout";
  facade.id_of = [](const Value& state) {
    std::optional<Reference> reference = terraform::reference_of(state["object_ref"]);
    return reference ? reference->id() : std::string(state["id"].string_or(""));
  };
  facade.import_id_of = import_id_of_object;
  facade.imported_inputs = [](const Value& state) -> Result<Json> {
    TRY_ASSIGN(Json manifest, manifest_of(state));
    return Json(Json::Object{{"manifest", std::move(manifest)}});
  };
  facade.is_as_imported = [](const Value& state, const Value& config) {
    Result<Json> stored = manifest_of(state), wanted = manifest_of(config);
    return stored && wanted && has_all(*stored, *wanted);
  };
  return facade;
}

ResourceFacade bundle_facade() {
  ResourceFacade facade;
  facade.name = "Bundle";
  facade.description =
      "Many objects, rolled out in the order that the cluster needs. A rollout that fails is gone on with by the next "
      "`pulumi up`.";
  facade.resource = terraform::make_bundle_resource();
  facade.schema = &facade.resource->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.hidden = {"delete_protection", "cluster_gone"};
  facade.free_form = FreeForm{.property = "manifests",
                              .attribute = "yaml",
                              .is_list = true,
                              .description =
                                  "The manifests. Set either this or one of `yaml`, `path`, `kustomize` and "
                                  "`chart`."};
  facade.create_time = facade.update_time = "timeout";
  facade.delete_time = "delete_timeout";
  facade.planned = {{"complete", true}};
  return facade;
}

ResourceFacade wait_facade() {
  ResourceFacade facade;
  facade.name = "Wait";
  facade.description =
      "Waits until an object is in some state, or a webhook is proved to work. It changes nothing in the cluster.";
  facade.resource = terraform::make_wait_resource();
  facade.schema = &facade.resource->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.create_time = facade.update_time = "timeout";
  return facade;
}

FunctionFacade object_function() {
  FunctionFacade facade;
  facade.name = "getObject";
  facade.description = "An object that is in the cluster. The data of Secrets are shown as digests.";
  facade.source = terraform::make_object_data_source();
  facade.schema = &facade.source->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.hidden = {"manifest", "yaml_body"};
  facade.in_preview = {{"wait_for", {}}, {"existence_timeout", {}}};
  return facade;
}

FunctionFacade webhook_function() {
  FunctionFacade facade;
  facade.name = "getWebhook";
  facade.description =
      "How far an admission webhook is: the API server is made to call it, by dry runs that store nothing.";
  facade.source = terraform::make_webhook_data_source();
  facade.schema = &facade.source->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.in_preview = {{"required", false}, {"timeout", "2s"}};
  return facade;
}

FunctionFacade guards_function() {
  FunctionFacade facade;
  facade.name = "getGuards";
  facade.description =
      "Which admission webhooks guard which of some manifests: those of the cluster, and those that are among the "
      "manifests themselves. Nothing is sent to them.";
  facade.source = terraform::make_guards_data_source();
  facade.schema = &facade.source->schema();
  facade.descriptions = {{"cluster", kCluster}};
  facade.free_form = FreeForm{.property = "manifests",
                              .attribute = "yaml",
                              .is_list = true,
                              .description = "The manifests, one object each. Set either this or `yaml`."};
  return facade;
}

}  // namespace

Catalog whole_catalog() {
  Catalog catalog;
  catalog.resources.push_back(object_facade());
  catalog.resources.push_back(bundle_facade());
  catalog.resources.push_back(wait_facade());
  catalog.functions.push_back(object_function());
  catalog.functions.push_back(webhook_function());
  catalog.functions.push_back(guards_function());
  return catalog;
}

Facade provider_facade() {
  static const terraform::Schema kSchema{
      .version = 0, .description = "The cluster.", .attributes = terraform::clusters_attribute().nested, .blocks = {}};
  Facade facade;
  facade.name = "Provider";
  facade.schema = &kSchema;
  facade.descriptions = {{"kubeconfig", kKubeconfig}, {"context", kContext}};
  return facade;
}

}  // namespace fairlead::pulumi

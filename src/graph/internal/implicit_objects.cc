#include "graph/internal/implicit_objects.h"

namespace fairlead::graph {
namespace {

// Returns the labels that the namespace will have once the bundle is rolled out, or nothing if the namespace is not
// known.
std::optional<Json> labels_of(const GraphBuilder& builder, const std::string& ns) {
  Json labels;
  auto add = [&](const Json& more) {
    for (const Json::Member& label : more.members()) labels.make(label.key) = label.value;
    labels.make("kubernetes.io/metadata.name") = ns;
  };
  for (const Json& there : builder.cluster.namespaces)
    if (there["metadata"]["name"].string_or("") == ns) add(there["metadata"]["labels"]);
  uint32_t own = builder.find({.group = "", .kind = "Namespace", .ns = {}, .name = ns});
  if (own != kNone) add(builder.bundle.objects[own].labels());
  return labels.is_null() ? std::nullopt : std::optional(std::move(labels));
}

bool sees_with(const GraphBuilder& builder, const Guard& guard, const ImplicitObject& what, const std::string& ns,
               const Json& labels) {
  if (guard.webhook->object_selector && !guard.webhook->object_selector->matches(labels)) return false;
  admission::Prospect prospect;
  prospect.ns = ns;
  prospect.ns_labels = labels_of(builder, ns);
  prospect.resource = {std::string(what.group), "v1", std::string(what.plural)};
  prospect.kind = {std::string(what.group), "v1", std::string(what.kind)};
  prospect.object = Json::Object{{"apiVersion", prospect.kind.api_version()},
                                 {"kind", what.kind},
                                 {"metadata", Json::Object{{"namespace", ns}, {"name", what.name}}}};
  if (!labels.is_null()) prospect.object.make("metadata").make("labels") = labels;
  return admission::could_match(*guard.webhook, prospect) != admission::Certainty::never;
}

}  // namespace

bool sees(const GraphBuilder& builder, const Guard& guard, const ImplicitObject& what, const std::string& ns) {
  return sees_with(builder, guard, what, ns, Json());
}

bool sees_record(const GraphBuilder& builder, const Guard& guard) {
  const Options& options = builder.options;
  if (options.inventory.empty()) return false;
  ImplicitObject record{.group = "", .kind = "ConfigMap", .plural = "configmaps", .name = options.inventory};
  // Every inventory ConfigMap has this label. A selector has no use for its value.
  Json labels(Json::Object{{"applyset.kubernetes.io/id", "applyset"}});
  return sees_with(builder, guard, record, options.default_namespace, labels);
}

}  // namespace fairlead::graph

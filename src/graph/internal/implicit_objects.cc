#include "graph/internal/implicit_objects.h"

namespace fairlead::graph {
namespace {

bool sees_with(const Guard& guard, const ImplicitObject& what, const std::string& ns,
               const std::optional<Json>& ns_labels, const Json& labels) {
  if (guard.webhook->object_selector && !guard.webhook->object_selector->matches(labels)) return false;
  admission::Prospect prospect;
  prospect.ns = ns;
  prospect.ns_labels = ns_labels;
  prospect.resource = {std::string(what.group), "v1", std::string(what.plural)};
  prospect.kind = {std::string(what.group), "v1", std::string(what.kind)};
  prospect.object = Json::Object{
      {"apiVersion", prospect.kind.api_version()}, {"kind", what.kind}, {"metadata", Json::Object{{"namespace", ns}}}};
  if (!what.name.empty()) prospect.object.make("metadata").make("name") = what.name;
  if (!labels.is_null()) prospect.object.make("metadata").make("labels") = labels;
  return admission::could_match(*guard.webhook, prospect) != admission::Certainty::never;
}

}  // namespace

bool sees(const GraphBuilder& builder, const Guard& guard, const ImplicitObject& what, const std::string& ns) {
  return sees_with(guard, what, ns, builder.namespace_labels(ns), Json());
}

bool sees_in_system(const Guard& guard, const ImplicitObject& what, const std::string& ns) {
  return sees_with(guard, what, ns, Json(Json::Object{{std::string(kNamespaceNameLabel), ns}}), Json());
}

bool sees_record(const GraphBuilder& builder, const Guard& guard) {
  const Options& options = builder.options;
  if (options.inventory.empty()) return false;
  ImplicitObject record{.group = "", .kind = "ConfigMap", .plural = "configmaps", .name = options.inventory};
  // Every inventory ConfigMap has this label. A selector has no use for its value.
  Json labels(Json::Object{{"applyset.kubernetes.io/id", "applyset"}});
  const std::string& home = options.default_namespace;
  return sees_with(guard, record, home, builder.namespace_labels(home), labels);
}

}  // namespace fairlead::graph

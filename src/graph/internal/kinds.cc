#include "graph/internal/kinds.h"

#include <algorithm>

#include "graph/kind_generators.h"
#include "object/containers.h"
#include "object/definition.h"

namespace fairlead::graph {
namespace {

std::string joined(std::string_view a, std::string_view b) { return std::string(a).append("/").append(b); }

// Guesses the resource from the kind as kubectl does.
std::string guess_plural(std::string_view kind) {
  std::string plural;
  for (char c : kind) plural += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (plural.ends_with("s") || plural.ends_with("x")) return plural + "es";
  if (plural.ends_with("y")) return plural.substr(0, plural.size() - 1) + "ies";
  return plural + "s";
}

}  // namespace

Kinds::Kinds(const manifest::Bundle& bundle, const ClusterState& cluster) : bundle_(bundle), cluster_(cluster) {
  auto add_definition = [&](const Json& value, NodeId object) {
    object::Definition definition(value);
    definitions_.try_emplace(joined(definition.group(), definition.kind()),
                             Definition{.value = &value, .object = object});
  };
  auto add_api_service = [&](const Json& value) {
    const Json& spec = value["spec"];
    if (spec["service"].is_object())
      aggregated_[joined(spec["group"].string_or(""), spec["version"].string_or(""))] = true;
  };
  for (NodeId i : plan::IdRange<NodeId>(bundle.objects.size())) {
    const object::Object& object = bundle.objects[i.index()];
    if (is_crd(object.key())) add_definition(object.value(), i);
    else if (object.group() == "apiregistration.k8s.io" && object.kind() == "APIService")
      add_api_service(object.value());
  }
  for (const Json& definition : cluster.definitions) add_definition(definition, kNoNode);
  for (const Json& service : cluster.api_services) add_api_service(service);
}

uint32_t Kinds::number_of(std::string_view group, std::string_view version, std::string_view kind) {
  std::string name;
  name.reserve(group.size() + version.size() + kind.size() + 2);
  name.append(group).append("/").append(version).append("/").append(kind);
  auto [entry, is_new] = numbers_.try_emplace(std::move(name), static_cast<uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back(describe(group, version, kind));
  return entry->second;
}

bool Kinds::is_aggregated(std::string_view group, std::string_view version) const {
  return aggregated_.contains(joined(group, version));
}

void Kinds::use_definition(Kind& kind, const Definition& definition) const {
  object::Definition says(*definition.value);
  kind.definition = definition.value;
  kind.definition_object = definition.object;
  if (!says.plural().empty()) kind.resource.resource = says.plural();
  kind.namespaced = says.namespaced();
  kind.served = Kind::Served::other_versions;
  for (std::string_view version : says.served_versions()) {
    if (version == kind.kind.version) {
      kind.served = Kind::Served::yes;
      continue;
    }
    kind.equivalents.push_back({.resource = {kind.kind.group, std::string(version), kind.resource.resource},
                                .kind = {kind.kind.group, std::string(version), kind.kind.kind}});
  }
}

// If a controller may define the kind later, the kind cannot be reported as missing.
void Kinds::use_kind_generators(Kind& kind) const {
  std::vector<NodeId> installers;
  for (NodeId i : plan::IdRange<NodeId>(bundle_.objects.size())) {
    Makes answer = makes(bundle_.objects[i.index()].value(), kind.kind.group, kind.kind.kind);
    if (answer == Makes::yes) kind.kind_generators.push_back(i);
    if (answer == Makes::maybe) installers.push_back(i);
  }
  bool is_made = !kind.kind_generators.empty() || std::ranges::any_of(cluster_.kind_generators, [&](const Json& live) {
    return makes(live, kind.kind.group, kind.kind.kind) == Makes::yes;
  });
  if (!is_made && kind.served == Kind::Served::no) kind.kind_generators = std::move(installers);
  if (kind.served != Kind::Served::yes && (is_made || !kind.kind_generators.empty()))
    kind.served = Kind::Served::not_known;
}

Kind Kinds::describe(std::string_view group, std::string_view version, std::string_view kind_name) const {
  Kind kind;
  kind.kind = {std::string(group), std::string(version), std::string(kind_name)};
  kind.resource = {std::string(group), std::string(version), guess_plural(kind_name)};
  kind.namespaced = true;
  kind.family = family_of(group, kind_name);
  const BuiltIn* built_in = find_built_in(group, kind_name);
  if (built_in != nullptr) {
    kind.resource.resource = built_in->plural;
    kind.namespaced = built_in->namespaced;
    // This is the only kind of Kubernetes that is still served in two versions.
    if (kind.family == Family::autoscaler && (version == "v1" || version == "v2")) {
      std::string other = version == "v1" ? "v2" : "v1";
      kind.equivalents.push_back({.resource = {kind.kind.group, other, kind.resource.resource},
                                  .kind = {kind.kind.group, other, kind.kind.kind}});
    }
  }
  const object::Resource* served = cluster_.find_resource ? cluster_.find_resource(group, version, kind_name) : nullptr;
  if (served != nullptr) {
    kind.resource.resource = served->plural;
    kind.namespaced = served->namespaced;
    kind.served = Kind::Served::yes;
  }
  auto definition = definitions_.find(joined(group, kind_name));
  if (definition != definitions_.end()) use_definition(kind, definition->second);
  // A version that discovery shows is served, even if the CRD in the cluster lists others.
  if (served != nullptr && kind.definition_object == kNoNode) kind.served = Kind::Served::yes;
  if (kind.served == Kind::Served::not_known && cluster_.find_resource && !is_aggregated(group, version))
    kind.served = Kind::Served::no;
  if (built_in == nullptr && kind.definition_object == kNoNode) use_kind_generators(kind);
  return kind;
}

}  // namespace fairlead::graph

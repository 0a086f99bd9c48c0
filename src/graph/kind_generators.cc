#include "graph/kind_generators.h"

#include <algorithm>
#include <array>
#include <string>

#include "graph/internal/graph_builder.h"

namespace fairlead::graph {
namespace {

constexpr std::string_view kAnnotation = "fairlead.dev/makes";

using Reads = bool (*)(const Json& spec, std::string_view group, std::string_view kind);

bool is(const Json& value, std::string_view text) { return !text.empty() && value.string_or("") == text; }

bool of_constraint_template(const Json& spec, std::string_view group, std::string_view kind) {
  return group == "constraints.gatekeeper.sh" && is(spec["crd"]["spec"]["names"]["kind"], kind);
}

bool of_composite(const Json& spec, std::string_view group, std::string_view kind) {
  return is(spec["group"], group) && (is(spec["names"]["kind"], kind) || is(spec["claimNames"]["kind"], kind));
}

bool of_resource_graph(const Json& spec, std::string_view group, std::string_view kind) {
  return spec["schema"]["group"].string_or("kro.run") == group && is(spec["schema"]["kind"], kind);
}

// A Promise contains a whole CRD.
bool of_promise(const Json& spec, std::string_view group, std::string_view kind) {
  const Json& definition = spec["api"]["spec"];
  return is(definition["group"], group) && is(definition["names"]["kind"], kind);
}

// The name of a CRD is PLURAL.GROUP.
bool of_service_version(const Json& spec, std::string_view group, std::string_view kind) {
  return std::ranges::any_of(spec["customresourcedefinitions"]["owned"].items(), [&](const Json& owned) {
    std::string_view name = owned["name"].string_or("");
    return is(owned["kind"], kind) && name.substr(std::min(name.find('.') + 1, name.size())) == group;
  });
}

struct Maker {
  GeneratorKind kind;
  Reads reads;
};
constexpr std::array kKindGenerators{
    Maker{{"templates.gatekeeper.sh", "ConstraintTemplate"}, of_constraint_template},
    Maker{{"apiextensions.crossplane.io", "CompositeResourceDefinition"}, of_composite},
    Maker{{"kro.run", "ResourceGraphDefinition"}, of_resource_graph},
    Maker{{"platform.kratix.io", "Promise"}, of_promise},
    Maker{{"operators.coreos.com", "ClusterServiceVersion"}, of_service_version},
};
constexpr std::array kGeneratorKinds = [] {
  std::array<GeneratorKind, kKindGenerators.size()> kinds{};
  std::ranges::transform(kKindGenerators, kinds.begin(), &Maker::kind);
  return kinds;
}();

// Kinds of objects that install packages from somewhere else.
constexpr std::array kInstallers{
    GeneratorKind{"operators.coreos.com", "Subscription"},
    GeneratorKind{"olm.operatorframework.io", "ClusterExtension"},
    GeneratorKind{"pkg.crossplane.io", "Provider"},
    GeneratorKind{"pkg.crossplane.io", "Configuration"},
    GeneratorKind{"helm.toolkit.fluxcd.io", "HelmRelease"},
    GeneratorKind{"kustomize.toolkit.fluxcd.io", "Kustomization"},
    GeneratorKind{"argoproj.io", "Application"},
    GeneratorKind{"helm.cattle.io", "HelmChart"},
};

bool says_so(std::string_view list, std::string_view group, std::string_view kind) {
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    std::string_view one = trim(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    size_t dot = one.find('.');
    if (dot == std::string_view::npos || one.substr(dot + 1) != group) continue;
    if (one.substr(0, dot) == "*" || lower(one.substr(0, dot)) == lower(kind)) return true;
  }
  return false;
}

// Packages do not contain the kinds of Kubernetes itself.
bool can_be_packaged(std::string_view group) {
  return group.find('.') != std::string_view::npos && group != "k8s.io" && !group.ends_with(".k8s.io");
}

}  // namespace

std::span<const GeneratorKind> generator_kinds() { return kGeneratorKinds; }

Makes makes(const Json& object, std::string_view group, std::string_view kind) {
  if (says_so(object["metadata"]["annotations"][kAnnotation].string_or(""), group, kind)) return Makes::yes;
  std::string_view api_version = object["apiVersion"].string_or("");
  std::string_view own_group = api_version.substr(0, std::min(api_version.find('/'), api_version.size()));
  std::string_view own_kind = object["kind"].string_or("");
  auto is_this = [&](const GeneratorKind& one) { return one.kind == own_kind && one.group == own_group; };
  for (const Maker& generator : kKindGenerators)
    if (is_this(generator.kind)) return generator.reads(object["spec"], group, kind) ? Makes::yes : Makes::no;
  bool installs = can_be_packaged(group) && std::ranges::any_of(kInstallers, is_this);
  return installs ? Makes::maybe : Makes::no;
}

}  // namespace fairlead::graph

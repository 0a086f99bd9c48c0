// The data source fairlead_manifests and the function of the same name: manifests, one by one, under stable keys.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "manifest/manifest.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

std::unique_ptr<DataSource> make_manifests_data_source();
std::unique_ptr<Function> make_manifests_function();

// Objects as YAML, by key: "[group.]kind[.namespace].name", in small letters but for namespace and name.
struct SortedManifests {
  std::map<std::string, std::string> crds;
  std::map<std::string, std::string> cluster_scoped;
  std::map<std::string, std::string> namespaced;
};

// Whether a kind has namespaces is known of built-in kinds and of those whose CRDs are among the objects; any other
// counts as namespaced. Two objects with the same key are an error.
Result<SortedManifests> sorted_manifests(const manifest::Bundle& bundle);

}  // namespace fairlead::terraform

// Where the manifests of a bundle come from: text, files, a kustomization, a chart.
#pragma once

#include <string>
#include <vector>

#include "manifest/manifest.h"
#include "terraform/projection/projection.h"
#include "terraform/provider/resource.h"

namespace fairlead::terraform {

// The attributes yaml, path, kustomize and chart.
std::vector<Attribute> source_attributes();
// What is wrong with them.
Diagnostics check_sources(const Value& config);
// False if they are not known yet.
bool has_known_sources(const Value& config);
// True if the same sources may have other manifests in the apply than in the plan: those of files, and what programs
// render.
bool may_read_differently(const Value& config);

struct SourceReading {
  manifest::Bundle bundle;
  Diagnostics diagnostics;
};
// Renders and reads the manifests. `name` and `ns` are those of a chart's release.
Task<SourceReading> read_sources(Context& context, Value config, std::string name, std::string ns);

// Returns a digest per object: "Deployment.apps shop/web". Values of Secrets cannot be guessed from them without the
// key.
Flat digests_of(const manifest::Bundle& bundle, std::string_view key);

}  // namespace fairlead::terraform

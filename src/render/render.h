// Runs the user's own helm and kustomize, and returns the manifests that they render.
//
// This is the room's first header. The programs are looked for in PATH. What they write to standard error becomes
// warnings, or the cause of an error if they fail. A program is ended when the task is cancelled, or when it takes
// longer than `kRenderTime`. The room sends no requests to a cluster; helm may do so on its own (lookup).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"
#include "manifest/rendered.h"

namespace fairlead::render {

inline constexpr Duration kRenderTime = std::chrono::minutes(5);

struct Rendered {
  std::vector<manifest::Text> texts;
  // Lines that the program wrote to standard error although it succeeded, and limits of the rendering.
  std::vector<std::string> warnings;
};

// A chart that is to be rendered under the name of a release.
struct Chart {
  // As helm takes it: a folder, an archive, REPO/NAME, a name (with --repo among the flags), or an address.
  std::string chart;
  std::string release;
  // The user's own flags for `helm template`. They win over ours.
  std::vector<std::string> flags;
};

// What helm has to know about the cluster that the chart is rendered for.
struct Target {
  std::string ns;
  // The rest is empty or false if there is no cluster, or if it must not be contacted.
  // "v1.37.1", and what is served: "apps/v1", "apps/v1/Deployment".
  std::string kube_version;
  std::vector<std::string> api_versions;
  // The release was installed before.
  bool is_upgrade = false;
  // How helm reaches the cluster: flags, and variables for what must not be seen on a command line.
  std::vector<std::string> connection;
  std::vector<std::pair<std::string, std::string>> environment;

  bool has_cluster() const { return !kube_version.empty(); }
};

// Renders a chart with `helm template`, CRDs and hooks included. Requires Helm 3 or newer. With a cluster, the chart
// sees the versions that the cluster serves, and its `lookup` finds objects of the cluster as far as helm can do that.
// The origin of each text is "chart NAME, templates/FILE".
Task<Result<Rendered>> render_chart(RealLoop& loop, Chart chart, Target target);

// Builds a kustomization with `kubectl kustomize`, or with `kustomize build` if there is no kubectl.
Task<Result<Rendered>> render_kustomization(RealLoop& loop, std::string folder);

}  // namespace fairlead::render

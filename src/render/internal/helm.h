// The command lines of helm, and what it prints. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "render/render.h"

namespace fairlead::render {

struct HelmVersion {
  int major = 0;
  int minor = 0;

  auto operator<=>(const HelmVersion&) const = default;
};

// Reads the output of `helm version --short`, such as "v3.22.0+g1a2b3c".
std::optional<HelmVersion> read_version(std::string_view output);

// Whether helm itself contacts the cluster while it renders.
enum class Asking { no, yes };

// The command line that renders the chart. `asking` requires a target with a cluster.
std::vector<std::string> template_command(const Chart& chart, const Target& target, HelmVersion version, Asking asking);

// True if that helm can look objects up in a cluster while it renders a template.
bool can_look_up(HelmVersion version);

// True if the user's flags say themselves whether helm contacts a cluster.
bool says_dry_run(const std::vector<std::string>& flags);

// True if helm failed only because it compared what it rendered with a cluster that does not have everything yet: a CRD
// of the chart is not there, or an object is there that helm did not create.
bool cluster_is_in_the_way(std::string_view errors);

// Takes the output of `helm template` apart at its "# Source:" comments.
std::vector<manifest::Text> split_output(std::string_view output, std::string_view chart);

}  // namespace fairlead::render

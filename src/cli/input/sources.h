// Where the manifests of a command come from: the flags that every command which reads manifests has, and the reading.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "async/real_loop.h"
#include "async/task.h"
#include "cli/core/flags.h"
#include "cli/core/invocation.h"
#include "manifest/manifest.h"
#include "render/render.h"

namespace fairlead::cli {

struct SourceFlags {
  // -f: files, folders, addresses, and "-".
  std::vector<std::string> files;
  bool recursive = false;
  // -k: folders with a kustomization.
  std::vector<std::string> kustomizations;
  // --chart, and the name under which it is rendered. The flags for helm are behind --.
  std::string chart;
  std::string release;

  // The command that has these flags, for advice in errors.
  std::string command;

  bool empty() const { return files.empty() && kustomizations.empty() && chart.empty(); }
};

// Everything that is to be read.
struct Sources {
  // As -f takes them.
  std::vector<std::string> files = {};
  bool recursive = false;
  std::vector<std::string> kustomizations = {};
  // A chart without a release is rendered under the name of the bundle.
  std::vector<render::Chart> charts = {};
};

// Adds the flags to `command`. `flags` must live as long as `command`.
void add_source_flags(Command command, SourceFlags& flags);

// True if the flags, or else fairlead.yaml, name manifests to read.
bool has_sources(const Invocation& invocation, const SourceFlags& flags);

// True if they name a chart, which is rendered for one cluster.
bool has_chart(const Invocation& invocation, const SourceFlags& flags);

// The bundle's name: `name`, the value of --name, or else the release of the chart. Empty if it has none.
std::string bundle_name(const std::string& name, const SourceFlags& flags);

struct Reading {
  // The bundle's name; empty if it has none.
  std::string name;
  // The timeout of the run, zero for no limit. An address has that time to answer, and a minute at most. Standard input
  // is waited for without a limit.
  Duration timeout = Duration::zero();
  CancelSource* stop = nullptr;
  // No cluster is contacted. Charts are rendered as `helm template` does by itself.
  bool offline = false;
};

// Reads the sources. Charts and kustomizations are rendered first. Returns every error.
Task<std::expected<manifest::Bundle, manifest::Errors>> read_bundle(RealLoop& loop, const Globals& globals,
                                                                    Sources sources, Reading reading);

// Reads everything that the flags name, or else the sources of fairlead.yaml. On failure, reports every error and
// returns the exit code of the command. No source at all is an error of the command line.
Task<std::expected<manifest::Bundle, int>> read_sources(RealLoop& loop, const Invocation& invocation,
                                                        const SourceFlags& flags, Reading reading);

}  // namespace fairlead::cli

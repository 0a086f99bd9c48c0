// Reads fairlead.yaml: what is always the same for a bundle.
//
// This is the room's first header. docs/config.md describes the keys. The text is hostile: a key that does not exist, a
// value of the wrong type, and everything that contradicts itself are errors with their line. Every error is returned,
// not only the first. Paths in the text are relative to its file, and are returned relative to the current directory.
// The room reads no files but to see whether a chart is a folder; it knows no flags and no cluster.
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fairlead::config {

struct Chart {
  // A path, or what else helm takes.
  std::string chart;
  // Empty if the release has the name of the bundle.
  std::string release;
  // For `helm template`: the files of `values`, and then `flags` as they are.
  std::vector<std::string> flags;

  bool operator==(const Chart&) const = default;
};

struct Config {
  // The file, as it was named.
  std::string file;
  // Everything below is empty where the file says nothing.
  std::string name;
  std::string ns;
  // Contexts of the kubeconfig that the bundle may be used with; `*` stands for any text.
  std::vector<std::string> contexts;
  // "fairlead.yaml:4", for errors about the context.
  std::string contexts_at;
  std::vector<std::string> files;
  std::vector<std::string> kustomizations;
  std::vector<Chart> charts;
  std::optional<bool> recursive;
  std::optional<bool> create_namespace;
  std::optional<bool> prune;
  std::string timeout;
  // By kind.
  std::map<std::string, std::string> timeout_for;

  bool has_sources() const { return !files.empty() || !kustomizations.empty() || !charts.empty(); }
};

// `file` is the name of the file that the text was read from.
std::expected<Config, std::vector<Error>> parse(std::string_view text, const std::string& file);

}  // namespace fairlead::config

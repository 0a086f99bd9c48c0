// The manifests of the admission server: what `fairlead webhook manifests` prints, and what deploy/chart makes.
//
// This is the room's first header. From values (those of the chart, values.yaml) come settings (settings.h), and from
// those the objects. The chart's templates do the same once more for those who use Helm; a test compares the two object
// by object. The room does no I/O, and makes no keys and no certificates.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace fairlead::webhook::install {

struct Release {
  std::string name = "fairlead";
  std::string ns = "default";
  // Of the image, unless the values say otherwise.
  std::string version;
};

struct ValuesFile {
  std::string name;
  std::string text;
};

struct Inputs {
  // What --set or --set-string takes (config/assignments.h).
  struct Set {
    std::string text;
    bool is_text = false;
  };
  // A later one overrides an earlier one.
  std::vector<ValuesFile> files;
  // These override the files.
  std::vector<Set> sets;
};

struct Manifests {
  // In the order in which they can be created.
  std::vector<Json> objects;
  // What the values say and is not done.
  std::vector<std::string> warnings;
};

struct Options {
  bool skip_definitions = false;
};

// Returns all errors of the values, each with its file and line. The texts are hostile.
std::expected<Manifests, std::vector<Error>> manifests(const Release& release, const Inputs& inputs,
                                                       const Options& options = {});

}  // namespace fairlead::webhook::install

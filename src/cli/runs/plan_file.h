// The file of `plan --out`: what was planned, for `apply --plan` to carry out exactly that.
//
// The file has the flags of the plan and, for each object, what would happen to it, with digests of the object in the
// manifests and in the cluster. It has no manifests and no values of Secrets. `apply --plan` reads the manifests again,
// makes the plan again, and compares.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "cli/core/flags.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

struct PlanFile {
  struct Flag {
    std::string name;  // "--filename"
    std::vector<std::string> values;
    bool operator==(const Flag&) const = default;
  };
  struct Object {
    object::Key key;
    std::string action;
    // Digests of the object in the cluster and of the object as it would be sent. Empty for objects that stay as they
    // are.
    std::string live;
    std::string wanted;
    bool operator==(const Object&) const = default;
  };

  std::string context;
  std::string server;
  std::string ns;
  bool namespace_is_chosen = false;
  std::string bundle;
  // Options::digest_key of the plan.
  std::string digest_key;
  std::vector<Flag> flags;
  // The words behind --.
  std::vector<std::string> behind;
  std::vector<Object> objects;

  bool operator==(const PlanFile&) const = default;
};

// Returns the objects of a plan in the form in which they are compared.
std::vector<PlanFile::Object> planned_objects(const rollout::Ending& ending);

// Returns one sentence for each object that is not planned as it was: it changed in the cluster, in the manifests, or
// both, or is new, or is missing.
std::vector<std::string> changes_since(const std::vector<PlanFile::Object>& planned,
                                       const std::vector<PlanFile::Object>& now);

std::string to_text(const PlanFile& file);
Result<PlanFile> parse_plan_file(std::string_view text, const std::string& path);

// Writes the file so that only the user can read it. If that fails, no file of that name is left behind.
Result<void> write_plan_file(const PlanFile& file, const std::string& path);
Result<PlanFile> read_plan_file(const std::string& path);

// Returns a random text for Options::digest_key.
std::string new_digest_key();

}  // namespace fairlead::cli

// Shows `fairlead plan` and `fairlead diff`: what would happen, in which order and why, and how objects would change.
#pragma once

#include <cstdio>
#include <string>

#include "report/output.h"
#include "rollout/rollout.h"

namespace fairlead::report {

// Where the plan would be carried out, for people.
struct PlanPlace {
  std::string bundle;  // empty for objects without a bundle
  std::string ns;
  std::string context;
  std::string server;

  // For example "bundle shop, context prod, namespace shop".
  std::string text() const;
};

struct PlanView {
  // The number of kept lines around each change.
  size_t context = 3;
  // Show whole objects, and those that would be created or deleted as well.
  bool full = false;
  // Show the differences and nothing else, as `fairlead diff` does.
  bool diff_only = false;
  // Another program shows the differences.
  bool no_diff = false;
};

// The number of objects by what would happen to them.
struct PlanCounts {
  size_t create = 0, change = 0, replace = 0, remove = 0, unchanged = 0, failed = 0;
  // Members of the bundle that are no longer in the manifests, and stay.
  size_t left = 0;

  size_t changes() const { return create + change + replace + remove; }
  // For example "2 to create, 1 to change, 20 unchanged; 1 no longer in the manifests".
  std::string text() const;
};
PlanCounts counts_of(const rollout::Ending& ending);

// Returns the objects that would not stay as they are, in the order in which they would be sent.
std::vector<const rollout::ObjectEnding*> planned(const rollout::Ending& ending);

class PlanReport {
 public:
  PlanReport(Format format, PlanPlace place, PlanView view, std::FILE* out = stdout, std::FILE* err = stderr)
      : output_(format, out, err), place_(std::move(place)), view_(view), out_(out), err_(err) {}

  // Call it for every event of the journal. Shows warnings.
  void read(const journal::Event& event) const;
  void finish(const rollout::Ending& ending, bool by_api_server) const;

 private:
  std::string list_text(const rollout::Ending& ending) const;
  std::string diff_text(const rollout::ObjectEnding& object, bool colours) const;
  std::string closing_text(const rollout::Ending& ending, bool by_api_server) const;
  void show_text(const rollout::Ending& ending, bool by_api_server) const;
  Json json_of(const rollout::Ending& ending, bool by_api_server) const;
  Json json_of(const rollout::ObjectEnding& object) const;

  Output output_;
  PlanPlace place_;
  PlanView view_;
  std::FILE* out_;
  std::FILE* err_;
};

}  // namespace fairlead::report

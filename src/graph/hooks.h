// Reads the annotations of Helm hooks: when a hook runs, and when it is deleted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::graph {

inline constexpr std::string_view kHookAnnotation = "helm.sh/hook";

struct Hook {
  // The hook runs before everything else of this run, or after everything else is ready. Both are false if the hook
  // does not run at all.
  bool before = false;
  bool after = false;
  // From helm.sh/hook-delete-policy. As in Helm, the default is before-hook-creation. `delete_before_is_said` is true
  // if the annotation names that policy.
  bool delete_before = false;
  bool delete_before_is_said = false;
  bool delete_succeeded = false;
  bool delete_failed = false;

  bool is_left_out() const { return !before && !after; }
};

// Reads the annotations of a Helm hook. Returns nothing if the object is not a hook. `was_there` is true if the bundle
// was rolled out before, so that this run is an upgrade, and false if it is an installation. If it is not known, the
// run counts as both.
std::optional<Hook> read_hook(const Json& annotations, std::optional<bool> was_there);

// True if the object is a hook for that event, such as "pre-delete".
bool is_hook_for(const Json& annotations, std::string_view event);
// True if the object is a hook for the deletion of its bundle.
bool is_delete_hook(const Json& annotations);

}  // namespace fairlead::graph

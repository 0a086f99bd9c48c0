// Hooks of Helm: when their annotations say that they run, and when they are deleted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace fairlead::graph {

inline constexpr std::string_view kHookAnnotation = "helm.sh/hook";

struct Hook {
  // Before everything else of this run, or when all the rest is ready. Neither, where it runs at other times only.
  bool before = false;
  bool after = false;
  // helm.sh/hook-delete-policy. Where there is none it is before-hook-creation, as for Helm.
  bool delete_before = false;
  bool delete_succeeded = false;
  bool delete_failed = false;

  bool is_left_out() const { return !before && !after; }
};

// Reads the annotations of a Helm hook. Returns nothing if the object is not a hook. `was_there` is true if the bundle
// was rolled out before, so that this run is an upgrade, and false if it is an installation. If it is not known, the
// run counts as both.
std::optional<Hook> read_hook(const Json& annotations, std::optional<bool> was_there);

}  // namespace fairlead::graph

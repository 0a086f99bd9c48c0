// Objects for which a controller defines kinds: a ConstraintTemplate of Gatekeeper, an XRD of Crossplane. What they
// make is not served before the controller has seen them, and may be in the same bundle.
#pragma once

#include <span>
#include <string_view>

#include "base/json.h"

namespace fairlead::graph {

// Why an object of such a kind needs its maker.
inline constexpr std::string_view kMakesItsKind = "makes its kind";

enum class Makes { no, maybe, yes };

// Whether a controller defines that kind for this object. `maybe`: of one that installs packages, nobody knows what is
// in them. An object of any kind can say what comes of it: `fairlead.dev/makes: Widget.example.com, *.example.org`.
Makes makes(const Json& object, std::string_view group, std::string_view kind);

// The kinds of objects that say themselves what they make.
struct GeneratorKind {
  std::string_view group;
  std::string_view kind;
};
std::span<const GeneratorKind> generator_kinds();

}  // namespace fairlead::graph

// Objects for which a controller defines kinds, such as a ConstraintTemplate of Gatekeeper or an XRD of Crossplane. The
// cluster serves these kinds only after the controller has seen the object, and objects of these kinds may be in the
// same bundle.
#pragma once

#include <span>
#include <string_view>

#include "base/json.h"

namespace fairlead::graph {

// The reason why an object of such a kind needs the object for which the kind is defined.
inline constexpr std::string_view kMakesItsKind = "makes its kind";

enum class Makes { no, maybe, yes };

// Tells whether a controller defines this kind for this object. Returns `maybe` for objects that install packages,
// because the contents of a package are not known. An object of any kind can declare the kinds in an annotation:
// `fairlead.dev/makes: Widget.example.com, *.example.org`.
Makes makes(const Json& object, std::string_view group, std::string_view kind);

// A kind of objects whose spec names the kinds that a controller defines for them.
struct GeneratorKind {
  std::string_view group;
  std::string_view kind;
};
std::span<const GeneratorKind> generator_kinds();

}  // namespace fairlead::graph

#include "sandbox/verbs/internal/deprecation.h"

#include "sandbox/core/custom_kind.h"

namespace fairlead::sandbox {

std::optional<Deprecation> deprecation_of(const Kind& kind) {
  if (kind.custom) {
    if (!kind.custom->is_deprecated) return std::nullopt;
    return Deprecation{.warning = kind.custom->deprecation_warning, .removed_in = {}};
  }
  if (kind.is("", "endpoints"))
    return Deprecation{.warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
                       .removed_in = {}};
  if (kind.is("", "componentstatuses"))
    return Deprecation{.warning = "v1 ComponentStatus is deprecated in v1.19+", .removed_in = {}};
  return std::nullopt;
}

}  // namespace fairlead::sandbox

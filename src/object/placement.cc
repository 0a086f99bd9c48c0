#include "object/placement.h"

namespace fairlead::object {

std::optional<Error> place(Key& key, bool namespaced, const DefaultNamespace& otherwise) {
  if (!namespaced) {
    key.ns.clear();
  } else if (key.ns.empty()) {
    key.ns = otherwise.name;
  } else if (otherwise.is_chosen && key.ns != otherwise.name) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} is not for the namespace that was asked for, {}", key.text(), otherwise.name))
        .next(fmt::format("--namespace={}, or no --namespace at all", key.ns));
  }
  return std::nullopt;
}

}  // namespace fairlead::object

#include "rollout/core/forecast.h"

namespace fairlead::rollout {

using Action = Forecast::Action;

std::string_view name_of(Action action) {
  switch (action) {
    case Action::none: return "none";
    case Action::create: return "create";
    case Action::change: return "change";
    case Action::replace: return "replace";
    case Action::remove: return "delete";
  }
  return "";
}

std::string_view name_of(Concern::Kind kind) {
  switch (kind) {
    case Concern::Kind::permission: return "permission";
    case Concern::Kind::definition: return "definition";
    case Concern::Kind::replacement: return "replacement";
  }
  return "";
}

}  // namespace fairlead::rollout

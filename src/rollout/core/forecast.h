// What a dry run tells about an object: what would happen to it, in which order, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diff/diff.h"
#include "object/key.h"

namespace fairlead::rollout {

struct Forecast {
  enum class Action {
    none,
    create,
    change,
    replace,  // deleted and created again
    remove,   // pruned
  };
  // Something that has to happen before the object is sent.
  struct Wait {
    std::string what;   // for example "Namespace shop"
    std::string until;  // "stored", "ready" or, for a guard, "answering"
    std::string reason;
  };
  // A field that the object sets and that another manager owns.
  struct Conflict {
    std::string field;
    std::string manager;
  };

  Action action = Action::none;
  // Why the API server has not checked the object, or not all of it. Empty if it has.
  std::string unchecked;
  // Why the object would be replaced, or from whom its fields would be taken over. May be empty.
  std::string note;
  diff::Change change;
  std::vector<Conflict> conflicts;
  // Objects with the same step are sent side by side, and those with a lower one before. The first step is 1. Pruned
  // objects have none: they are deleted when everything else is done.
  uint32_t step = 0;
  std::vector<Wait> waits;
  // Identify the object in the cluster, and the object as it would be sent; empty if Options::digest_key is.
  std::string live_digest;
  std::string wanted_digest;
};
// Returns "none", "create", "change", "replace" or "delete".
std::string_view name_of(Forecast::Action action);

// Something that the user should know before the bundle is rolled out.
struct Concern {
  enum class Kind {
    permission,   // the user lacks a permission that the rollout needs
    definition,   // a change of a CRD that can break its objects
    replacement,  // an object would be deleted and created again
  };
  Kind kind = Kind::permission;
  // The object that the concern is about; without a kind if there are several.
  object::Key key;
  std::string text;
};
std::string_view name_of(Concern::Kind kind);

}  // namespace fairlead::rollout

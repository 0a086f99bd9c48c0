// What is particular to single built-in kinds: filled in when they are created or updated, and what is refused. The
// deeper validation of the real server is not here; docs/sandbox.md lists what is.
#pragma once

#include "sandbox/core/core.h"
#include "sandbox/core/status.h"

namespace fairlead::sandbox {

struct KindRule {
  void (*create)(Core& core, Json& object) = nullptr;
  void (*update)(Core& core, const Json& live, Json& object) = nullptr;
  void (*validate)(const Core& core, const Json* live, const Json& object, std::vector<Cause>& causes) = nullptr;
  // What a request that is valid is warned of.
  std::vector<std::string> (*warnings)(const Json& object) = nullptr;
};

// Null for kinds that need none.
const KindRule* rule_for(const Kind& kind);

}  // namespace fairlead::sandbox

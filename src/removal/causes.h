// A chain of causes while it is being found, and how errors write durations.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "readiness/why.h"

namespace fairlead::removal {

// "3m", "1m30s", "250ms"
std::string short_text(Duration duration);

struct Chain {
  // Outermost first.
  std::vector<std::string> causes;
  std::string next;

  void add(const readiness::Why& why);
  // All of it below `what`.
  Error under(ErrorKind kind, std::string what, const std::string& where) &&;
};

}  // namespace fairlead::removal

// A chain of causes while it is being found.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "readiness/why.h"

namespace fairlead::removal {

struct Chain {
  // Outermost first.
  std::vector<std::string> causes;
  std::string next;

  void add(const readiness::Why& why);
  // All of it below `what`.
  Error under(ErrorKind kind, std::string what, const std::string& where) &&;
};

}  // namespace fairlead::removal

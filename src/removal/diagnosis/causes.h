// A chain of causes that is still being collected.
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
  // Returns an error `what` that is caused by the whole chain.
  Error under(ErrorKind kind, std::string what, const std::string& where) &&;
};

}  // namespace fairlead::removal

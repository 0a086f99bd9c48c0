#include <unistd.h>

#include <cstdio>

#include "cli/command.h"

namespace fairlead::cli {

int report(const Error& error) {
  std::fputs(error.report().c_str(), stderr);
  switch (error.kind()) {
    case ErrorKind::timeout: return kTimedOut;
    case ErrorKind::cancelled: return kInterrupted;
    default: return kFailed;
  }
}

}  // namespace fairlead::cli

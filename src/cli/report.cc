#include <cstdio>

#include "cli/command.h"
#include "report/screen.h"

namespace fairlead::cli {

int report(const Error& error) {
  report::print(stderr, error.report());
  switch (error.kind()) {
    case ErrorKind::timeout: return kTimedOut;
    case ErrorKind::cancelled: return kInterrupted;
    default: return kFailed;
  }
}

}  // namespace fairlead::cli

#include <cstdio>

#include "cli/command.h"
#include "report/output.h"

namespace fairlead::cli {

int report(const Error& error) {
  if (error.root().kind() == ErrorKind::cancelled) {
    report::print(stderr, "error: interrupted\n");
    return kInterrupted;
  }
  report::print(stderr, error.report());
  return error.kind() == ErrorKind::timeout ? kTimedOut : kFailed;
}

}  // namespace fairlead::cli

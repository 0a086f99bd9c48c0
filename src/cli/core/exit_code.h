// What the process ends with. Stable: scripts lean on them; docs/cli.md lists them.
#pragma once

namespace fairlead::cli {

enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kChanges = 2,  // plan and diff: there is something to do
  kTimedOut = 3,
  kConflicts = 4,  // somebody else owns a field that we were asked to set
  kUsage = 64,
  kInterrupted = 130,
};

}  // namespace fairlead::cli

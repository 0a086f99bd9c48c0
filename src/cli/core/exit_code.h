// The exit codes of the process. They stay as they are, because scripts depend on them; docs/cli.md lists them.
#pragma once

#include "journal/outcome.h"

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

// The exit code of a rollout, a removal or a wait.
inline int exit_code(journal::Outcome outcome) {
  using journal::Outcome;
  switch (outcome) {
    case Outcome::done: return kDone;
    case Outcome::failed: return kFailed;
    case Outcome::timed_out: return kTimedOut;
    case Outcome::conflicts: return kConflicts;
    case Outcome::interrupted: return kInterrupted;
    case Outcome::declined: return kFailed;
  }
  return kFailed;
}

}  // namespace fairlead::cli

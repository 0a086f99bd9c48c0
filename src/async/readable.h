// Waiting for a descriptor on the loop instead of in a read that blocks, so that Ctrl-C ends the wait.
#pragma once

#include "async/real_loop.h"
#include "async/task.h"
#include "base/error.h"

namespace fairlead {

// Until a read of the descriptor does not block: something is there, or its end. At once for files and for what cannot
// be watched. Leaves the descriptor as it is, blocking or not. Fails with ErrorKind::cancelled.
Task<Result<void>> await_readable(RealLoop& loop, int descriptor);

}  // namespace fairlead

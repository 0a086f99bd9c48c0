// The one place where a coroutine is started without being awaited by another. For Loop::run and Scope only: both see
// to it that the task ends before they do.
#pragma once

#include "async/loop.h"
#include "async/task.h"

namespace fairlead {

// Starts the task from the loop, governed by `cancel`, and calls `done` when it has ended and its frame is gone.
void start_detached(Loop& loop, Task<void> task, CancelSource* cancel, Loop::Callback done);

}  // namespace fairlead

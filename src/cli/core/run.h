// How a command does its work: on an event loop of its own, until it is done or interrupted.
#pragma once

#include <functional>

#include "async/cancel.h"
#include "async/real_loop.h"
#include "async/task.h"

namespace fairlead::cli {

// Runs the work and returns its exit code. Ctrl-C and the like cancel `stop` (async/interrupt.h). What the work refers
// to must live until this returns.
int run_interruptibly(const std::function<Task<int>(RealLoop& loop, CancelSource& stop)>& work);

}  // namespace fairlead::cli

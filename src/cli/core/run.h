// How a command does its work: on an event loop of its own, until it is done or interrupted.
#pragma once

#include <functional>

#include "async/cancel.h"
#include "async/interrupt.h"
#include "async/real_loop.h"
#include "async/task.h"
#include "cli/core/flags.h"
#include "cli/core/invocation.h"

namespace fairlead::cli {

// Runs the work and returns its exit code. Ctrl-C and the like cancel `stop` (async/interrupt.h). What the work refers
// to must live until this returns.
using Work = std::function<Task<int>(RealLoop& loop, CancelSource& stop)>;
int run_interruptibly(const Work& work, LostReader lost_reader = LostReader::stops);

// Makes the work what this command does: it is run interruptibly after parsing, if the command is given.
void run_when_chosen(Command command, Invocation& invocation, Work work);

}  // namespace fairlead::cli

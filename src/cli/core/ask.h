// Questions to the person at the terminal.
#pragma once

#include <string>

#include "async/loop.h"
#include "async/task.h"

namespace fairlead::cli {

// True if somebody can be asked: standard input and standard error are a terminal.
bool can_ask();

// Asks on the terminal whether to go on, and goes on hearing Ctrl-C while nobody answers. Everything but yes is no.
Task<bool> ask(Loop& loop, std::string text);

}  // namespace fairlead::cli

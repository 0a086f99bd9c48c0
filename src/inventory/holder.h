// Who works on a bundle: how this process describes itself in a claim and in the names of what it makes for a moment,
// and whether the process that did so has ended.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace fairlead::inventory {

// For people: "ann@laptop, process 4711"
std::string own_holder();

// For machines: boot, namespaces, number and start time of a process. Empty where /proc does not tell.
//
// Host name and process number are not enough. Containers and cloned machines share host names, a container has
// process numbers of its own, and a number is used again.
std::string origin_of(pid_t process);

// True only if that process ran under this very kernel and in our PID namespace, and has ended. False where that is not
// known: then the lease has to run out.
bool is_gone(std::string_view origin);

// Names a run of that process in the cluster, in at most 30 small letters, digits and dashes: never used before, and
// is_gone_run() can tell from it whether the process has ended.
std::string run_of(pid_t process);
// What is_gone() is for an origin.
bool is_gone_run(std::string_view run);

// Says in the options of a rollout or a removal that this process runs it.
template <class Options>
void sign(Options& options) {
  options.run = run_of(::getpid());
  options.run_known_dead = is_gone_run;
  options.holder = own_holder();
  options.origin = origin_of(::getpid());
  options.known_dead = is_gone;
}

}  // namespace fairlead::inventory

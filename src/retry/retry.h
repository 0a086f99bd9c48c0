// Runs an installer, and runs it again once the webhook, CRD or API that it failed for is there: `fairlead retry`.
//
// This is the room's first header. failure.h reads from the output of a command why it failed, and is pure. The engine
// waits with the room `wait`, so it goes on as soon as a webhook is proved to work. Anything else that a command fails
// with ends the run at once. The engine starts no processes itself: whoever calls it does, so that tests need none.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "journal/journal.h"
#include "journal/outcome.h"
#include "kube/client.h"
#include "kube/discovery.h"
#include "retry/failure.h"

namespace fairlead::retry {

struct Options {
  // The program and its arguments. Used for texts, and to recognise the names of Helm releases.
  std::vector<std::string> command;
  // How often the command is run again at most.
  int retries = 3;
  // How long is waited at most before the command is run again.
  Duration delay = std::chrono::seconds(30);
  // The time for everything; nothing: no limit.
  std::optional<Duration> timeout = {};
  // The name of this run in the cluster, for shadows, and whether another run is known to have ended.
  std::string run = "retry";
  std::function<bool(std::string_view run)> run_known_dead = {};
};

// How one run of the command ended.
struct CommandEnding {
  // One of the two: what it ended with, or the signal that ended it.
  std::optional<int> exit_status = {};
  int signal = 0;
  // What it wrote, or the end of that.
  std::string output = {};

  bool ok() const { return exit_status == 0; }
  // As shells have it: 128 and the signal.
  int exit_code() const { return exit_status.value_or(128 + signal); }
  // "exit status 3" or "signal 9 (Killed)".
  std::string text() const;
};

// The cluster, as far as it is needed. What the pointers point to must outlive the run.
struct Cluster {
  kube::Client* client = nullptr;
  kube::Discovery* discovery = nullptr;
  std::string default_namespace = "default";
  // For people: "context prod".
  std::string text = {};
};

// How the engine reaches the world.
struct World {
  Loop& loop;
  // Runs the command once. A cancelled run must end the command. Fails if the command cannot be started.
  std::function<Task<Result<CommandEnding>>()> run_command;
  // Called once, after the first failure that a look at the cluster could explain or mend.
  std::function<Result<Cluster>()> connect;
};

struct Attempt {
  CommandEnding ending;
  Duration took{};
  // Why it failed.
  std::optional<Failure> failure = {};
  // How long was waited afterwards, and whether everything that was missing came.
  Duration waited{};
  bool is_proved = false;
};

struct Ending {
  using How = journal::Outcome;
  How how = How::done;
  // Empty if the command could not be started.
  std::vector<Attempt> attempts = {};
  std::vector<journal::Cause> causes = {};
  Duration took{};
  uint64_t requests = 0;
};

// Cancelling `stop` (may be null) gives up waiting, and the command is not run again; a command that is running is left
// alone, since whoever cancels also tells it. The task itself must not be cancelled.
Task<Ending> retry(World world, Options options, journal::Journal& journal, CancelSource* stop);

}  // namespace fairlead::retry

// Runs the phases of a pipeline that are not completed yet, side by side where they need nothing of each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/cancel.h"
#include "async/loop.h"
#include "async/task.h"
#include "journal/outcome.h"
#include "pipeline/events.h"
#include "pipeline/pipeline.h"
#include "pipeline/state.h"

namespace fairlead::pipeline {

using How = journal::Outcome;

struct StepEnding {
  How how = How::done;
  // One line: "7 created in 8.8s", or why it failed.
  std::string message;
};

// Does what the runner itself cannot do.
class Host {
 public:
  virtual ~Host() = default;

  // Does one step. If `stop` is cancelled, it ends soon with How::interrupted.
  virtual Task<StepEnding> run_step(const Phase& phase, const Step& step, CancelSource& stop) = 0;
  virtual Task<void> tell(Event event) = 0;
  // Keeps the state, so that it outlives the process. Called before anything that the state says is begun.
  virtual Result<void> save(const State& state) = 0;
};

struct Ending {
  How how = How::done;
  // Set if the state could not be kept, which ends the run.
  std::optional<Error> error;
  Duration took{};
};

// Runs the pipeline. `state` has to be adapted to it. A phase that fails stops those that need it, and no others.
// Cancelling `stop` gives How::interrupted; the task itself must not be cancelled. What the references point to must
// outlive the task.
Task<Ending> run(Loop& loop, const Pipeline& pipeline, State& state, Host& host, CancelSource& stop);

// Returns the time as events and states have it.
std::string time_text(WallTime time);

}  // namespace fairlead::pipeline

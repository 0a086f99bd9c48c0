#include "pipeline/runner.h"

#include <fmt/chrono.h>

#include "async/scope.h"
#include "base/duration_text.h"

namespace fairlead::pipeline {
namespace {

class Run {
 public:
  Run(Loop& loop, const Pipeline& pipeline, State& state, Host& host, CancelSource& stop)
      : loop_(loop),
        pipeline_(pipeline),
        state_(state),
        host_(host),
        stop_(stop),
        changed_(loop),
        scope_(loop, nullptr),
        was_tried_(pipeline.phases.size()) {}

  Task<Ending> run_all() {
    TimePoint begun = loop_.now();
    // What interrupts the run is handed down to the steps, which know how to end.
    while (true) {
      bool has_skipped = co_await start_what_may_start();
      if (has_skipped) continue;
      if (running_ == 0) break;
      (void)co_await changed_.wait_uncancelled();
    }
    co_await scope_.join();
    if (stop_.cancelled() && !is_settled()) ending_.how = How::interrupted;
    ending_.took = loop_.now() - begun;
    co_return std::move(ending_);
  }

 private:
  // Returns true if a phase was skipped, so that others may be able to start.
  Task<bool> start_what_may_start() {
    bool has_skipped = false;
    for (size_t index : state_.startable(pipeline_)) {
      if (stop_.cancelled() || ending_.error) break;
      if (was_tried_[index]) continue;
      was_tried_[index] = true;
      if (pipeline_.phases[index].is_wanted) {
        ++running_;
        scope_.spawn(run_phase(index));
      } else {
        co_await skip(index);
        has_skipped = true;
      }
    }
    co_return has_skipped;
  }

  bool is_settled() const {
    for (const PhaseState& phase : state_.phases())
      if (phase.status == Status::pending || phase.status == Status::in_progress) return false;
    return true;
  }

  Task<void> skip(size_t index) {
    state_.skip(index, now(), "when is false");
    if (save()) co_await tell(index, Action::skipped, "when is false");
  }

  Task<void> run_phase(size_t index) {
    co_await run_steps(index);
    --running_;
    changed_.notify_all();
  }

  Task<void> run_steps(size_t index) {
    const Phase& phase = pipeline_.phases[index];
    size_t first = state_.next_step(pipeline_, index);
    state_.begin(pipeline_, index, now());
    if (!save()) co_return;
    if (first == 0) co_await tell(index, Action::started, count_text(phase.steps.size()));
    else
      co_await tell(index, Action::resumed, fmt::format("goes on with step {} of {}", first + 1, phase.steps.size()));
    for (size_t step = first; step < phase.steps.size(); ++step) {
      StepEnding ending = co_await run_with_retries(index, phase.steps[step]);
      if (ending.how == How::interrupted) co_return co_await interrupt(index);
      if (ending.how != How::done) co_return co_await fail(index, ending);
      state_.step_done(pipeline_, index, step);
      if (!save()) co_return;
      co_await tell(index, phase.steps[step], Action::completed, ending.message);
    }
    state_.complete(index, now());
    if (save()) co_await tell(index, Action::completed, count_text(phase.steps.size()));
  }

  Task<StepEnding> run_with_retries(size_t index, const Step& step) {
    const Phase& phase = pipeline_.phases[index];
    if (stop_.cancelled()) co_return interrupted();
    co_await tell(index, step, Action::started, step.text);
    for (int64_t tried = 0;; ++tried) {
      StepEnding ending = co_await host_.run_step(phase, step, stop_);
      if (ending.how == How::done || ending.how == How::interrupted) co_return ending;
      if (tried == step.retries) {
        bool is_late = ending.how == How::timed_out;
        co_await tell(index, step, is_late ? Action::timed_out : Action::failed, ending.message);
        co_return ending;
      }
      co_await tell(index, step, Action::retry,
                    fmt::format("{}; retry {} of {} in {}", ending.message, tried + 1, step.retries,
                                short_text(step.retry_delay)));
      if (!co_await sleep_for(loop_, step.retry_delay).governed_by(&stop_)) co_return interrupted();
    }
  }

  static StepEnding interrupted() { return {.how = How::interrupted, .message = "interrupted"}; }
  static std::string count_text(size_t steps) { return fmt::format("{} step{}", steps, steps == 1 ? "" : "s"); }

  Task<void> interrupt(size_t index) {
    state_.interrupt(index, "interrupted");
    if (save()) co_await tell(index, Action::interrupted, "interrupted");
  }

  Task<void> fail(size_t index, const StepEnding& ending) {
    state_.fail(index, now(), ending.message);
    // Different failures have no exit code in common but that of a failure.
    bool is_other = ending_.how != How::done && ending_.how != ending.how;
    ending_.how = is_other ? How::failed : ending.how;
    if (save()) co_await tell(index, Action::failed, ending.message);
  }

  // Returns false if the state could not be kept. No phase goes on then.
  bool save() {
    if (ending_.error) return false;
    Result<void> saved = host_.save(state_);
    if (saved) return true;
    ending_.error = saved.error();
    ending_.how = How::failed;
    return false;
  }

  std::string now() const { return time_text(loop_.clock().wall_now()); }

  Task<void> tell(size_t index, Action action, std::string message) {
    const Phase& phase = pipeline_.phases[index];
    return host_.tell({.time = now(),
                       .phase = phase.name,
                       .action = action,
                       .message = std::move(message),
                       .name = event_name(phase.events, action, false)});
  }

  Task<void> tell(size_t index, const Step& step, Action action, std::string message) {
    return host_.tell({.time = now(),
                       .phase = pipeline_.phases[index].name,
                       .step = step.text,
                       .action = action,
                       .message = std::move(message),
                       .name = event_name(step.events, action, true)});
  }

  Loop& loop_;
  const Pipeline& pipeline_;
  State& state_;
  Host& host_;
  CancelSource& stop_;
  // A phase has ended.
  Signal changed_;
  Scope scope_;
  size_t running_ = 0;
  // A phase is tried once per run.
  std::vector<bool> was_tried_;
  Ending ending_;
};

}  // namespace

std::string time_text(WallTime time) {
  return fmt::format("{:%FT%TZ}", std::chrono::floor<std::chrono::seconds>(time));
}

Task<Ending> run(Loop& loop, const Pipeline& pipeline, State& state, Host& host, CancelSource& stop) {
  Run all(loop, pipeline, state, host, stop);
  co_return co_await all.run_all();
}

}  // namespace fairlead::pipeline

// Does the steps of a pipeline: rolls out, runs a program, or waits.
#pragma once

#include <string>
#include <vector>

#include "async/real_loop.h"
#include "cli/core/globals.h"
#include "journal/journal.h"
#include "pipeline/pipeline.h"
#include "pipeline/runner.h"
#include "report/display.h"

namespace fairlead::cli {

// Returns an error for each step that could never work: names of bundles, and forms and objects to wait for. Sends
// nothing.
std::vector<Error> check_steps(const pipeline::Pipeline& pipeline);

// Returns the global flags for a phase, which may have a context and a namespace of its own.
Globals globals_of(const Globals& globals, const pipeline::Phase& phase);

class StepRun {
 public:
  // `settings` says how the step is shown. What the references point to must outlive the run.
  StepRun(RealLoop& loop, Globals globals, const pipeline::Pipeline& pipeline, const pipeline::Phase& phase,
          report::Settings settings, CancelSource& stop);

  Task<pipeline::StepEnding> run(const pipeline::Step& step);
  // Why it failed.
  const std::vector<journal::Cause>& causes() const { return causes_; }

 private:
  Task<pipeline::StepEnding> run(const pipeline::Apply& apply);
  Task<pipeline::StepEnding> run(const pipeline::Command& command);
  Task<pipeline::StepEnding> run(const pipeline::Wait& wait);
  pipeline::StepEnding failed(std::vector<Error> errors);
  void print(std::string_view line) const;

  RealLoop& loop_;
  Globals globals_;
  const pipeline::Pipeline& pipeline_;
  const pipeline::Phase& phase_;
  report::Settings settings_;
  CancelSource& stop_;
  std::vector<journal::Cause> causes_;
};

}  // namespace fairlead::cli

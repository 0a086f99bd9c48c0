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

// Writes down for each phase which cluster and namespace it is for. Returns an error for each wanted phase whose
// context cannot be used, unless a command comes before it, which may be what makes the context. Sends nothing.
std::vector<Error> find_places(pipeline::Pipeline& pipeline, const Globals& globals);

// Returns the global flags for a phase, which may have a context and a namespace of its own.
Globals globals_of(const Globals& globals, const pipeline::Phase& phase);

class StepRun {
 public:
  // Commands keep the lock of the state, so that a run that is killed does not free it before they have ended.
  // `settings` says how the step is shown. Its events also go to `journal`, that of the whole pipeline, if anybody
  // reads it. What the references point to must outlive the run.
  StepRun(RealLoop& loop, Globals globals, const pipeline::Pipeline& pipeline, const pipeline::Phase& phase,
          report::Settings settings, journal::Journal& journal, CancelSource& stop, int lock);

  Task<pipeline::StepEnding> run(const pipeline::Step& step);
  // Why it failed.
  const std::vector<journal::Cause>& causes() const { return causes_; }

 private:
  Task<pipeline::StepEnding> run(const pipeline::Apply& apply);
  Task<pipeline::StepEnding> run(const pipeline::Command& command);
  Task<pipeline::StepEnding> run(const pipeline::Wait& wait);
  pipeline::StepEnding failed(std::vector<Error> errors);
  // Adds what happens in the step to the journal of the pipeline, with the names of the phase and of the step.
  void pass_on(journal::Journal& own);
  void print(std::string_view line) const;

  RealLoop& loop_;
  Globals globals_;
  const pipeline::Pipeline& pipeline_;
  const pipeline::Phase& phase_;
  report::Settings settings_;
  journal::Journal& journal_;
  CancelSource& stop_;
  int lock_;
  // Step::text.
  std::string step_;
  std::vector<journal::Cause> causes_;
};

}  // namespace fairlead::cli

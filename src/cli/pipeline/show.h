// What `fairlead run` prints: lines while it runs, a table of the phases, and JSON. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "journal/journal.h"
#include "pipeline/events.h"
#include "pipeline/pipeline.h"
#include "pipeline/runner.h"
#include "pipeline/state.h"
#include "report/line.h"

namespace fairlead::cli {

// What is known of a pipeline: of a run that has ended, or of its state.
struct PipelineView {
  const pipeline::Pipeline& pipeline;
  const pipeline::State& state;
  std::string state_path;
  // What follows `fairlead run` on the command line of the same run: its file and flags.
  std::string words;
  // "done", "failed"; of a state also "active" if a run holds the lock, or "open" if something is left to do.
  std::string outcome;
  // Who runs it at the moment.
  std::optional<std::string> holder = {};
  // Only of a run.
  std::optional<Duration> took = {};
  std::vector<journal::Cause> causes = {};
};

// Returns the line of an event: "[istio] manifests istio/ completed: 3 created in 1.2s".
report::Line event_line(const pipeline::Event& event);

// Returns the phases as a table, and below it what to do next.
std::string status_text(const PipelineView& view);
// Returns what a run would do with each phase: "[istio] would run: 2 steps".
std::string plan_text(const pipeline::Pipeline& pipeline, const pipeline::State& state);
// Returns "kof: 2 completed, 1 failed, 1 pending".
std::string totals_text(const pipeline::Pipeline& pipeline, const pipeline::State& state);

// Returns the last line of `-o jsonl`, and the document of `-o json`, which has it as well (docs/schemas/run.json).
Json summary_json(const PipelineView& view);
Json document_json(const PipelineView& view);

}  // namespace fairlead::cli

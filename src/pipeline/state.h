// How far each phase of a pipeline has come. Pure: the time is handed in, and state_file.h reads and writes the file.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "pipeline/pipeline.h"

namespace fairlead::pipeline {

enum class Status {
  pending,
  in_progress,  // a run is at it, or was interrupted or killed at it
  completed,
  skipped,
  failed,
};
// Returns "pending", "in progress" and so on.
std::string_view name_of(Status status);

struct PhaseState {
  std::string name;
  Status status = Status::pending;
  // Of the phase when it was last begun.
  std::string hash;
  // Phase::place at that time.
  std::string place;
  // The hashes of the steps that are done, in order.
  std::vector<std::string> steps;
  // "2026-05-04T10:20:30Z"; empty if it did not happen.
  std::string started;
  std::string ended;
  // Why it failed or was skipped.
  std::string message;

  bool operator==(const PhaseState&) const = default;
};

// What is different about a pipeline since its state was written.
struct Note {
  // The phase that was completed as something else; empty if the phase is gone.
  std::string phase;
  // One sentence.
  std::string text;
  bool operator==(const Note&) const = default;
};

class State {
 public:
  State() = default;
  // The state of a pipeline that was never run.
  explicit State(const Pipeline& pipeline);
  // Reads the text of a state file. Errors have file:line:column; every one is returned.
  static std::expected<State, std::vector<Error>> parse(std::string_view text, const std::string& file);
  std::string text() const;

  const std::string& pipeline() const { return pipeline_; }
  const std::vector<PhaseState>& phases() const { return phases_; }
  const PhaseState& phase(size_t index) const { return phases_[index]; }

  // Adapts the state to the pipeline, which may have changed since: afterwards it has the same phases in the same
  // order. New phases are pending. Returns a note for each phase that is gone, or was completed as something else.
  std::vector<Note> adapt(const Pipeline& pipeline);
  // True if the phase was completed, and would do something else now. Requires that the state is adapted.
  bool has_changed(const Pipeline& pipeline, size_t index) const;

  // Returns the completed phases that were for another cluster or namespace: what they did is not there. Requires that
  // the state is adapted.
  std::vector<size_t> moved(const Pipeline& pipeline) const;

  // Returns the phases that may be run: those whose needs are completed or skipped, and which are neither themselves.
  std::vector<size_t> startable(const Pipeline& pipeline) const;
  // Returns the number of the step with which the phase goes on: steps that are done and have not changed are not done
  // again.
  size_t next_step(const Pipeline& pipeline, size_t index) const;

  // Each moves a phase to another status. begin() keeps the steps that are done and have not changed.
  void begin(const Pipeline& pipeline, size_t index, std::string now);
  void step_done(const Pipeline& pipeline, size_t index, size_t step);
  void complete(size_t index, std::string now);
  void skip(size_t index, std::string now, std::string why);
  void fail(size_t index, std::string now, std::string why);
  // The run was interrupted: the phase stays in progress.
  void interrupt(size_t index, std::string why);
  // Makes the phase, and those that need it, pending. Returns those that were not pending before.
  std::vector<size_t> reset(const Pipeline& pipeline, size_t index);

  bool operator==(const State&) const = default;

 private:
  bool is_settled(size_t index) const;
  bool is_elsewhere(const Pipeline& pipeline, size_t index) const;

  std::string pipeline_;
  std::vector<PhaseState> phases_;
};

}  // namespace fairlead::pipeline

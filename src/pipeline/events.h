// What happened in the runs of a pipeline, for people and programs.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "pipeline/pipeline.h"

namespace fairlead::pipeline {

struct Event {
  // "2026-05-04T10:20:30Z"
  std::string time;
  std::string phase;
  // Step::text; empty if the event is about the phase as a whole.
  std::string step;
  Action action = Action::started;
  std::string message;
  // As the pipeline calls it, or else "phase_started", "step_retry" and so on.
  std::string name;

  bool is_problem() const {
    return action == Action::failed || action == Action::timed_out || action == Action::retry ||
           action == Action::interrupted;
  }
};

// Returns the name of the event: that of `names`, or the usual one. An event that has no name of its own for a timeout
// has that for a failure.
std::string event_name(const EventNames& names, Action action, bool is_step);

// Returns a line of the events file. docs/run.md has the fields.
Json to_json(const Event& event);

// A file to which the events of every run are added, one line of JSON each. Only the user can read it.
class EventFile {
 public:
  static Result<std::unique_ptr<EventFile>> open(std::string path);
  ~EventFile();
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  Result<void> add(const Event& event);

 private:
  EventFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace fairlead::pipeline

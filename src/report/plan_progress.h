// Shows how far a plan is: on a terminal from the first second on, elsewhere every 30 seconds.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "async/loop.h"
#include "journal/journal.h"
#include "report/terminal.h"

namespace fairlead::report {

class PlanProgress {
 public:
  // The loop must outlive it.
  explicit PlanProgress(Loop& loop, std::FILE* stream = stderr);
  ~PlanProgress() { stop(); }
  PlanProgress(const PlanProgress&) = delete;
  PlanProgress& operator=(const PlanProgress&) = delete;

  // Call it for every event of the journal, before others print anything about it.
  void read(const journal::Event& event);
  // Removes the line. Nothing is shown any more afterwards.
  void stop();

  // For example "checked 1,200 of 3,000 objects".
  std::string text() const;

 private:
  void arm();
  void show();
  void erase();

  Loop& loop_;
  std::FILE* stream_;
  bool is_live_;
  Frames frames_;
  uint64_t objects_ = 0;
  uint64_t checked_ = 0;
  bool is_stopped_ = false;
  bool is_late_ = false;
  std::optional<Loop::TimerId> timer_;
};

}  // namespace fairlead::report

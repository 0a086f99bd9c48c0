// Turns the events of a run into lines for people. The lines stay: they scroll away on a terminal, and fill a log.
//
// Pure: it prints nothing, and the time comes from the events and from tick().
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "journal/journal.h"
#include "report/gathering.h"

namespace fairlead::report {

struct NarratorOptions {
  // One line per object, however many there are.
  bool all = false;
  bool dry_run = false;
  // There is a live view as well, which shows what is going on. The narrator then tells only what has happened.
  bool is_beside_live_view = false;
};

class Narrator {
 public:
  using Options = NarratorOptions;
  virtual ~Narrator() = default;

  // Call it for every event of the journal. Returns the lines that are to be shown now.
  std::vector<Line> read(const journal::Event& event);
  // Call it from time to time. Returns the lines that were held back and are due.
  std::vector<Line> tick(Duration now) { return gathering_.take(now); }
  // Returns the lines that were held back until now.
  std::vector<Line> finish() { return gathering_.take_all(); }
  // True if lines are held back, so that tick() is needed.
  bool holds_lines() const { return !gathering_.empty(); }

 protected:
  explicit Narrator(Options options, std::string ending)
      : options_(options), gathering_({.all = options.all, .ending = std::move(ending)}) {}

  // Adds the lines of the event to `lines`, or gathers it.
  virtual void tell(const journal::Event& event, std::vector<Line>& lines) = 0;
  // True if the text was not told before. The narrator tells a cause once, however many objects it affects.
  bool is_new(const std::string& text) { return told_.insert(text).second; }

  Options options_;
  Gathering gathering_;

 private:
  std::unordered_set<std::string> told_;
};

// Narrates `fairlead apply`.
class RolloutNarrator final : public Narrator {
 public:
  explicit RolloutNarrator(Options options) : Narrator(options, options.dry_run ? " (dry run)" : "") {}

 private:
  // An object that was stored and is not ready yet.
  struct Waiting {
    Duration since{};
    // It did not become ready at once, so people want to hear when it does.
    bool is_notable = false;
    // People know that it is starting.
    bool is_starting_told = false;
  };
  void tell(const journal::Event& event, std::vector<Line>& lines) override;
  void tell_stored(const journal::Event& event);
  void tell_progress(const journal::Event& event, std::vector<Line>& lines);
  void tell_ready(const journal::Event& event);
  void tell_failed(const journal::Event& event, std::vector<Line>& lines);
  void tell_waiting(const journal::Event& event, std::vector<Line>& lines);

  std::unordered_map<object::Key, Waiting> waiting_;
  uint64_t objects_ = 0;
  uint64_t ready_ = 0;
};

// Narrates `fairlead delete`.
class RemovalNarrator final : public Narrator {
 public:
  explicit RemovalNarrator(Options options) : Narrator(options, "") {}

 private:
  void tell(const journal::Event& event, std::vector<Line>& lines) override;
};

// Narrates `fairlead wait`: one line per object.
class WaitNarrator final : public Narrator {
 public:
  explicit WaitNarrator(Options options) : Narrator(options, "") {}

 private:
  void tell(const journal::Event& event, std::vector<Line>& lines) override;

  std::unordered_set<object::Key> told_;
};

}  // namespace fairlead::report

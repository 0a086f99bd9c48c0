// The live view of a run, without a terminal: events in, lines for a window of some size out.
//
// Pure: it prints nothing, and the time is an argument.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "journal/journal.h"
#include "report/line.h"
#include "report/needs.h"

namespace fairlead::report {

struct Size {
  size_t width = 80;
  size_t height = 24;
  bool operator==(const Size&) const = default;
};

class Board {
 public:
  enum class Run { rollout, removal, wait };
  explicit Board(Run run) : run_(run) {}

  // Call it for every event of the journal. With the graph (Detail::full), the board knows what unsent objects wait
  // for.
  void read(const journal::Event& event);
  // Returns the head line and one line per group of objects that are not done. No line is wider than the window less
  // one column, and there are fewer lines than the window has.
  std::vector<Line> lines(Duration now, Size size);

 private:
  enum class Phase {
    sent,     // stored, or its deletion was requested: not done yet
    blocked,  // not accepted yet
  };
  struct Entry {
    Phase phase = Phase::sent;
    Duration since{};
    // Why it is not done.
    std::string text;
    Tone tone = Tone::plain;
  };
  struct Guard {
    std::string rung;
    std::string text;
    Duration since{};
  };
  // Objects that one line is about, and the one of them that has waited longest.
  struct Group {
    object::Key first;
    Entry entry;
    size_t count = 0;

    std::string label() const;
  };

  // A line before it is fitted into the window.
  struct Row {
    std::string label;
    std::string age;
    std::string text;
    Tone tone = Tone::plain;
  };

  Entry& entry_of(const journal::Event& event);
  void read_stored(const journal::Event& event);
  void read_guard(const journal::Event& event);
  void read_progress(const journal::Event& event);
  void count_sent(Duration at);
  std::vector<Group> groups() const;
  std::string head(Duration now, const std::vector<Group>& groups) const;
  std::string waiting_for(const std::vector<Group>& groups) const;
  std::string rate(Duration now) const;
  std::string rung_behind(const std::string& text) const;
  uint64_t unsent() const;
  void add_unsent(std::vector<Row>& rows) const;
  std::vector<Row> rows(Duration now, const std::vector<Group>& groups) const;

  Run run_;
  uint64_t objects_ = 0;
  uint64_t done_ = 0;
  uint64_t failed_ = 0;
  uint64_t sent_ = 0;
  // The number of objects that a wait has seen the end of.
  uint64_t met_ = 0;
  // In an order that stays the same, so that lines do not jump.
  std::map<object::Key, Entry> entries_;
  std::map<std::string, Guard> guards_;
  Needs needs_;
  // When objects were sent lately, for the rate.
  std::deque<Duration> sent_at_;
};

}  // namespace fairlead::report

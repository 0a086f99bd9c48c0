// Shows a run while it goes on: a live view on a terminal, lines elsewhere, or nothing.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/loop.h"
#include "report/board.h"
#include "report/narrator.h"
#include "report/output.h"
#include "report/terminal.h"

namespace fairlead::report {

// How a run is shown while it goes on.
enum class Progress {
  live,   // a live view on a terminal, and lines above it
  plain,  // lines
  quiet,  // warnings and errors only
  json,   // one line of JSON per event, on standard error
};

struct Settings {
  // What standard output gets.
  Format format = Format::text;
  Progress progress = Progress::plain;
  // One line per object, however many there are.
  bool all = false;
  // Begins every line, if several runs share the streams: "[istio] ". Not for a live view.
  std::string prefix = {};
  // The context of the run, which programs are told if several runs share the streams.
  std::string context = {};
  // Tell how many requests were sent.
  bool requests = false;
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  // The terminal of the live view: one of the two.
  std::FILE* terminal = stdout;
  // The live view is not drawn before this returns true. A credential plugin may have a dialogue with the user first.
  std::function<bool()> may_draw = [] { return true; };
};

// Prints a line with its colour, if the stream shows colours.
void print_line(std::FILE* stream, const Line& line);

class Display {
 public:
  // What the references point to must outlive the display.
  Display(Loop& loop, const journal::Journal& journal, Settings settings, std::unique_ptr<Narrator> narrator,
          Board::Run run);
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  const Settings& settings() const { return settings_; }
  // Call it for every event of the journal.
  void read(const journal::Event& event);
  // Removes the live view while somebody else writes to the terminal, until resume().
  void pause();
  void resume();
  // Prints everything that was held back and removes the live view. Nothing is shown any more afterwards.
  void stop();

 private:
  bool shows(const Line& line) const;
  void print(const std::vector<Line>& lines);
  void print(const Line& line);
  void draw();
  void tick();
  void arm();

  Loop& loop_;
  const journal::Journal& journal_;
  Settings settings_;
  std::unique_ptr<Narrator> narrator_;
  Board board_;
  Frames frames_;
  // Lines that the next frame brings to the terminal.
  std::vector<Line> pending_;
  std::optional<Loop::TimerId> timer_;
  bool is_paused_ = false;
  bool is_stopped_ = false;
};

}  // namespace fairlead::report

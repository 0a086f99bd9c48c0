#include "report/display.h"

#include <unistd.h>

#include <cstdlib>

#include "base/colours.h"

namespace fairlead::report {
namespace {

// At most ten frames per second.
constexpr Duration kFrame = std::chrono::milliseconds(100);
constexpr Duration kLookAgain = std::chrono::milliseconds(250);

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

// The terminal with a live view, for the moment when the process is ended at once; -1 if there is none.
int& drawn_on() {
  static int descriptor = -1;
  return descriptor;
}

void erase_at_once() {
  if (drawn_on() >= 0) (void)!::write(drawn_on(), kEraseView.data(), kEraseView.size());
}

void erase_when_ended_at_once() {
  static const bool kIsSetUp = std::at_quick_exit(erase_at_once) == 0;
  (void)kIsSetUp;
}

}  // namespace

void print_line(std::FILE* stream, const Line& line) {
  std::string_view colour = has_colours(::fileno(stream)) ? colour_of(line.tone) : "";
  write(stream, colour);
  report::print(stream, shown_text(line));
  if (!colour.empty()) write(stream, colours::kPlain);
  write(stream, "\n");
}

Display::Display(Loop& loop, const journal::Journal& journal, Settings settings, std::unique_ptr<Narrator> narrator,
                 Board::Run run)
    : loop_(loop),
      journal_(journal),
      settings_(std::move(settings)),
      narrator_(std::move(narrator)),
      board_(run),
      frames_(has_colours(::fileno(settings_.terminal))) {
  if (settings_.progress != Progress::live) return;
  erase_when_ended_at_once();
  arm();
}

Display::~Display() { stop(); }

void Display::read(const journal::Event& event) {
  if (settings_.progress == Progress::json) write(settings_.err, to_json(event).dump() + "\n");
  board_.read(event);
  print(narrator_->read(event));
  if (settings_.progress != Progress::live && narrator_->holds_lines()) arm();
}

// Programs get warnings as events.
bool Display::shows(const Line& line) const {
  bool is_for_people = settings_.format == Format::text || settings_.format == Format::quiet;
  if (settings_.progress == Progress::live || settings_.progress == Progress::plain) return true;
  return settings_.progress == Progress::quiet && line.is_problem && is_for_people;
}

void Display::print(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    if (!shows(line)) continue;
    bool is_elsewhere = line.is_problem && !is_terminal(::fileno(settings_.err));
    if (settings_.progress == Progress::live && !is_stopped_ && !is_elsewhere) pending_.push_back(line);
    else print(line);
  }
}

void Display::print(const Line& line) {
  bool is_for_out = settings_.format == Format::text && !line.is_problem;
  std::FILE* stream = is_for_out ? settings_.out : settings_.err;
  print_line(stream, {.text = settings_.prefix + line.text, .tone = line.tone, .is_problem = line.is_problem});
}

void Display::draw() {
  bool shows_view = settings_.may_draw() && !is_paused_;
  std::vector<Line> view;
  if (shows_view) view = board_.lines(journal_.elapsed(), size_of(::fileno(settings_.terminal)));
  if (pending_.empty() && view.empty()) return;
  drawn_on() = view.empty() ? -1 : ::fileno(settings_.terminal);
  write(settings_.terminal, frames_.draw(std::exchange(pending_, {}), view));
}

void Display::tick() {
  timer_.reset();
  print(narrator_->tick(journal_.elapsed()));
  if (settings_.progress == Progress::live && !is_paused_) draw();
  arm();
}

void Display::arm() {
  bool is_live = settings_.progress == Progress::live;
  if (timer_ || is_stopped_ || (!is_live && !narrator_->holds_lines())) return;
  timer_ = loop_.call_after(is_live ? kFrame : kLookAgain, [this] { tick(); });
}

void Display::pause() {
  if (settings_.progress != Progress::live || is_paused_) return;
  is_paused_ = true;
  draw();
  write(settings_.terminal, frames_.erase());
  drawn_on() = -1;
}

void Display::resume() { is_paused_ = false; }

void Display::stop() {
  if (is_stopped_) return;
  print(narrator_->finish());
  is_stopped_ = true;
  if (timer_) loop_.cancel_timer(*timer_);
  timer_.reset();
  if (settings_.progress != Progress::live) return;
  std::string last = frames_.draw(std::exchange(pending_, {}), {});
  write(settings_.terminal, last);
  drawn_on() = -1;
}

}  // namespace fairlead::report

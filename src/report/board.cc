#include "report/board.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/printable.h"
#include "report/internal/columns.h"
#include "report/internal/words.h"

namespace fairlead::report {
namespace {

using journal::Event;
using journal::EventKind;

// The rate is that of the last seconds.
constexpr Duration kRateTime = std::chrono::seconds(2);
// So many groups are named in the head line.
constexpr size_t kNamed = 2;
constexpr std::string_view kIndent = "  ";
// A window that is narrower shows no explanations.
constexpr size_t kNarrow = 40;

// "webhook v.example.com" of "webhook v.example.com (ValidatingWebhookConfiguration x)"
std::string_view short_name(std::string_view guard) { return guard.substr(0, guard.find(" (")); }

bool is_in_front(std::string_view rung) { return rung != "answering"; }

}  // namespace

std::string Board::Group::label() const {
  if (count == 1) return first.text();
  return counted(count, first.kind) + (first.ns.empty() ? "" : " in " + first.ns);
}

Board::Entry& Board::entry_of(const Event& event) {
  auto [found, is_new] = entries_.try_emplace(event.key);
  if (is_new) found->second.since = event.at;
  return found->second;
}

void Board::read(const Event& event) {
  bool is_count = event.kind == EventKind::started || event.kind == EventKind::note;
  if (const Json& objects = event.details["objects"]; is_count && !objects.is_null())
    objects_ = uint64_t(objects.int_or(0));
  switch (event.kind) {
    case EventKind::graph:
      // A later graph is that of the objects to prune.
      if (done_ == 0 && entries_.empty()) needs_.read_graph(event.details);
      break;
    case EventKind::stored: read_stored(event); break;
    case EventKind::guard: read_guard(event); break;
    case EventKind::progress: read_progress(event); break;
    case EventKind::ready:
      done_ += entries_.erase(event.key);
      // Nothing has to be said about an object before it is there.
      if (run_ == Run::wait) done_ = ++met_;
      needs_.done(event.key);
      break;
    case EventKind::failed:
      if (event.key.kind.empty()) break;
      entries_.erase(event.key);
      needs_.sent(event.key);
      ++failed_;
      break;
    case EventKind::removed:
      entries_.erase(event.key);
      needs_.done(event.key);
      if (run_ == Run::removal) ++done_;
      break;
    case EventKind::parked: {
      Entry& entry = entry_of(event);
      entry.phase = Phase::blocked;
      entry.text = event.text;
      needs_.sent(event.key);
      break;
    }
    default: break;
  }
}

void Board::read_stored(const Event& event) {
  ++sent_;
  sent_at_.push_back(event.at);
  while (!sent_at_.empty() && sent_at_.front() + kRateTime < event.at) sent_at_.pop_front();
  needs_.stored(event.key);
  if (event.state == "unchanged") {
    needs_.done(event.key);
    // Nothing more is said about it if it is ready.
    entries_.erase(event.key);
    ++done_;
    return;
  }
  Entry& entry = entry_of(event);
  entry = {.phase = Phase::sent, .since = event.at, .text = "", .tone = Tone::plain};
}

void Board::read_progress(const Event& event) {
  bool is_taken_back = run_ == Run::rollout && event.state != "stuck" && !entries_.contains(event.key) && done_ > 0;
  // It is unchanged, and was taken for ready.
  if (is_taken_back) --done_;
  Entry& entry = entry_of(event);
  entry.phase = Phase::sent;
  entry.text = event.text;
  bool is_trouble = event.state == "trouble" || event.state == "stuck";
  needs_.sent(event.key);
  entry.tone = is_trouble ? Tone::trouble : event.state == "starting" ? entry.tone : Tone::plain;
}

void Board::read_guard(const Event& event) {
  std::string name(event.details["guard"].string_or(""));
  auto [found, is_new] = guards_.try_emplace(name);
  if (is_new) found->second.since = event.at;
  found->second.rung = event.state;
  found->second.text = event.text;
  needs_.guard(name, event.state);
}

// With the graph, each group of them has a line that says what it waits for.
void Board::add_unsent(std::vector<Row>& rows) const {
  uint64_t left = unsent();
  if (left == 0 || (sent_ + done_ == 0 && entries_.empty())) return;
  uint64_t told = 0;
  for (const Needs::Group& group : needs_.unsent()) {
    if (group.awaited.empty() || told + group.count > left) continue;
    told += group.count;
    std::string label = Group{.first = group.first, .entry = {}, .count = group.count}.label();
    rows.push_back(
        {.label = std::move(label),
         .age = "",
         .text = fmt::format("{} for {} ({})", group.count == 1 ? "waits" : "wait", group.awaited, group.reason),
         .tone = Tone::quiet});
  }
  if (told == left) return;
  rows.push_back({.label = fmt::format("{} {}", with_commas(left - told), left - told == 1 ? "object" : "objects"),
                  .age = "",
                  .text = run_ == Run::rollout   ? "not sent yet"
                          : run_ == Run::removal ? "wait for others to be deleted first"
                                                 : "not seen yet",
                  .tone = Tone::quiet});
}

uint64_t Board::unsent() const {
  uint64_t known = done_ + failed_ + entries_.size();
  return objects_ > known ? objects_ - known : 0;
}

std::vector<Board::Group> Board::groups() const {
  std::map<std::tuple<Tone, Phase, std::string, std::string, std::string, std::string>, Group> found;
  for (const auto& [key, entry] : entries_) {
    std::string text = entry.phase == Phase::blocked ? entry.text : std::string();
    Group& group = found[{entry.tone, entry.phase, key.group, key.kind, key.ns, text}];
    if (group.count++ == 0 || entry.since < group.entry.since) {
      group.first = key;
      group.entry = entry;
    }
  }
  std::vector<Group> groups;
  for (auto& [key, group] : found) groups.push_back(std::move(group));
  std::ranges::sort(groups, {}, [](const Group& group) {
    return std::tuple(group.entry.tone != Tone::trouble, group.entry.since, group.first);
  });
  return groups;
}

std::string Board::waiting_for(const std::vector<Group>& groups) const {
  std::string text;
  for (size_t i = 0; i < std::min(groups.size(), kNamed); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", groups[i].label());
  if (groups.size() > kNamed) text += fmt::format(" and {} more", groups.size() - kNamed);
  return text;
}

std::string Board::rate(Duration now) const {
  Duration from = now > kRateTime ? now - kRateTime : Duration::zero();
  size_t recent = size_t(std::ranges::count_if(sent_at_, [&](Duration at) { return at >= from; }));
  double seconds = std::chrono::duration<double>(std::min(now, kRateTime)).count();
  auto per_second = seconds > 0 ? uint64_t(double(recent) / seconds) : 0;
  return per_second == 0 ? "" : fmt::format("{}/s", with_commas(per_second));
}

std::string Board::head(Duration now, const std::vector<Group>& groups) const {
  std::string text = clock_text(now);
  std::string_view done = run_ == Run::rollout ? "ready" : run_ == Run::removal ? "deleted" : "met";
  if (objects_ > 0) text += fmt::format(" · {} of {} {}", with_commas(done_), with_commas(objects_), done);
  else if (done_ > 0) text += fmt::format(" · {} {}", with_commas(done_), done);
  else text += " · reading the cluster";
  if (failed_ > 0) text += fmt::format(" · {} failed", with_commas(failed_));
  if (std::string sent = rate(now); !sent.empty()) text += " · " + sent;
  if (std::string waiting = waiting_for(groups); !waiting.empty()) text += " · waiting for " + waiting;
  return text;
}

// Returns how far the guard has come that a text is about.
std::string Board::rung_behind(const std::string& text) const {
  for (const auto& [name, guard] : guards_)
    if (!guard.rung.empty() && text.contains(short_name(name))) return fmt::format(" (rung: {})", guard.rung);
  return "";
}

std::vector<Board::Row> Board::rows(Duration now, const std::vector<Group>& groups) const {
  std::vector<Row> rows;
  for (const Group& group : groups) {
    bool is_blocked = group.entry.phase == Phase::blocked;
    std::string text = is_blocked ? "blocked: " + group.entry.text + rung_behind(group.entry.text) : group.entry.text;
    if (group.count > 1 && !is_blocked && !text.empty()) text = fmt::format("{}: {}", group.first.name, text);
    rows.push_back({.label = group.label(),
                    .age = clock_text(now - std::min(now, group.entry.since)),
                    .text = std::move(text),
                    .tone = group.entry.tone});
  }
  bool is_awaited =
      unsent() > 0 || std::ranges::any_of(groups, [](const Group& one) { return one.entry.phase == Phase::blocked; });
  for (const auto& [name, guard] : guards_)
    if (is_awaited && is_in_front(guard.rung))
      rows.push_back({.label = std::string(short_name(name)),
                      .age = clock_text(now - std::min(now, guard.since)),
                      .text = guard.rung + (guard.text.empty() ? "" : ": " + guard.text)});
  add_unsent(rows);
  return rows;
}

std::vector<Line> Board::lines(Duration now, Size size) {
  std::vector<Line> lines;
  if (size.height < 2 || size.width < 2) return lines;
  size_t width = size.width - 1;
  std::vector<Group> all = groups();
  std::vector<Row> body = rows(now, all);
  lines.push_back({.text = cut_to(printable_line(head(now, all)), width)});
  size_t room = size.height - 2;
  size_t shown = body.size() <= room ? body.size() : room > 0 ? room - 1 : 0;
  size_t label = 0;
  for (size_t i = 0; i < shown; ++i) label = std::max(label, columns_of(printable_line(body[i].label)));
  label = std::min(label, std::max(width * 2 / 5, size_t{12}));
  for (size_t i = 0; i < shown; ++i) {
    const Row& row = body[i];
    std::string name = std::string(kIndent) + printable_line(row.label);
    std::string text = width < kNarrow ? name
                                       : fmt::format("{}  {:>5}  {}", padded_to(name, label + kIndent.size()), row.age,
                                                     printable_line(row.text));
    text.erase(text.find_last_not_of(' ') + 1);
    lines.push_back({.text = cut_to(text, width), .tone = row.tone});
  }
  if (shown < body.size() && room > 0)
    lines.push_back({.text = cut_to(fmt::format("{}… and {} more lines", kIndent, body.size() - shown), width),
                     .tone = Tone::quiet});
  return lines;
}

}  // namespace fairlead::report

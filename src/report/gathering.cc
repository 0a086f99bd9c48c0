#include "report/gathering.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/internal/words.h"

namespace fairlead::report {
namespace {

// What happens within this time is told together.
constexpr Duration kTogether = std::chrono::seconds(1);
// So many objects of a kind are told one by one, and so many namespaces.
constexpr size_t kFew = 3;

std::string_view word_of(Happening what) {
  switch (what) {
    case Happening::created: return "created";
    case Happening::changed: return "changed";
    case Happening::ready: return "ready";
    case Happening::deleted: return "deleted";
  }
  return "";
}

Tone tone_of(Happening what) { return what == Happening::ready ? Tone::good : Tone::plain; }

std::string first_to_last(Duration first, Duration last) {
  std::string from = clock_text(first), to = clock_text(last);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

}  // namespace

void Gathering::add(Duration at, Happening what, const object::Key& key, std::optional<Duration> took,
                    std::string text) {
  if (groups_.empty()) since_ = at;
  auto is_its_group = [&](const Group& group) {
    return group.what == what && group.kind == key.kind && group.group == key.group;
  };
  auto found = std::ranges::find_if(groups_, is_its_group);
  if (found == groups_.end())
    found = groups_.insert(groups_.end(), {.what = what, .group = key.group, .kind = key.kind, .entries = {}});
  found->entries.push_back({.key = key, .took = took, .text = std::move(text)});
}

std::vector<Line> Gathering::take(Duration now) {
  bool is_due = !groups_.empty() && (options_.all || now - since_ >= kTogether);
  return is_due ? take_all() : std::vector<Line>();
}

std::vector<Line> Gathering::take_all() {
  std::vector<Line> lines;
  for (const Group& group : groups_) tell(group, lines);
  groups_.clear();
  return lines;
}

Line Gathering::line_of(Happening what, const Entry& entry) const {
  std::string text = fmt::format("{} {}", entry.key.text(), word_of(what));
  if (entry.took) text += " after " + clock_text(*entry.took);
  if (!entry.text.empty()) text += ": " + entry.text;
  return {.text = text + options_.ending, .tone = tone_of(what)};
}

void Gathering::tell(const Group& group, std::vector<Line>& lines) const {
  if (options_.all || group.entries.size() <= kFew) {
    for (const Entry& entry : group.entries) lines.push_back(line_of(group.what, entry));
    return;
  }
  std::map<std::string, std::vector<const Entry*>> by_namespace;
  std::vector<const Entry*> everything;
  for (const Entry& entry : group.entries) {
    by_namespace[entry.key.ns].push_back(&entry);
    everything.push_back(&entry);
  }
  if (by_namespace.size() > kFew) {
    tell(group, everything, fmt::format(" in {} namespaces", with_commas(by_namespace.size())), lines);
    return;
  }
  for (const auto& [ns, entries] : by_namespace) tell(group, entries, ns.empty() ? "" : " in " + ns, lines);
}

void Gathering::tell(const Group& group, const std::vector<const Entry*>& entries, const std::string& where,
                     std::vector<Line>& lines) const {
  if (entries.size() == 1) {
    lines.push_back(line_of(group.what, *entries.front()));
    return;
  }
  std::string what = counted(entries.size(), group.kind) + where;
  std::string text = fmt::format("{} {}", word_of(group.what), what);
  if (group.what == Happening::ready) {
    auto [first, last] =
        std::ranges::minmax(entries, {}, [](const Entry* entry) { return entry->took.value_or(Duration()); });
    text = fmt::format("{} ready after {}", what,
                       first_to_last(first->took.value_or(Duration()), last->took.value_or(Duration())));
  }
  lines.push_back({.text = text + options_.ending, .tone = tone_of(group.what)});
}

}  // namespace fairlead::report

// What people and machines are shown of a run. This is the room's first header.
//
// A report (rollout_report.h, removal_report.h) reads the journal while a run goes on, and prints what came of it at
// the end, in the format that was asked for. The room decides nothing and asks nothing of a cluster.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "journal/journal.h"

namespace fairlead::report {

enum class Format { text, json, jsonl, quiet };
Format format_of(std::string_view name);

// Text for people. Whatever is in it, a terminal is only written on.
void print(std::FILE* stream, std::string_view text);

// How many ended in one way.
struct Count {
  std::string_view name;   // "notReady": for machines
  std::string_view words;  // "not ready"
  size_t count = 0;
};

// How many objects ended in each of the ways that are told; `words` says a state for people.
template <typename Object, typename Counted>
std::vector<Count> counts_of(const std::vector<Object>& objects, const Counted& counted, auto words) {
  std::vector<Count> counts;
  for (const auto& [state, name] : counted)
    counts.push_back(
        {.name = name, .words = words(state), .count = size_t(std::ranges::count(objects, state, &Object::state))});
  return counts;
}

// What `-o json` tells of every object.
Json object_json(const object::Key& key, const std::string& source, std::string_view outcome);

// What came of a run.
struct Closing {
  std::string_view outcome;
  bool dry_run = false;
  std::vector<Count> counts;
  Duration took{};
  uint64_t requests = 0;
  const std::vector<journal::Cause>& causes;
  // A JSON object each; wanted for Format::json alone.
  Json::Array objects{};
  // More of the summary for machines, and behind the totals and the causes for people.
  Json::Object more{};
  std::string totals_end{};
  std::string causes_end{};
};

// Standard output and standard error, or what stands in for them.
class Output {
 public:
  explicit Output(Format format, std::FILE* out = stdout, std::FILE* err = stderr)
      : format_(format), out_(out), err_(err) {}

  Format format() const { return format_; }
  // An event; `line` is what people are shown of it, empty for nothing. Warnings and errors are shown to those as well
  // who want it quiet.
  void show(const journal::Event& event, std::string_view line) const;
  void show(const Closing& closing) const;

 private:
  bool is_for_people() const { return format_ == Format::text || format_ == Format::quiet; }

  Format format_;
  std::FILE* out_;
  std::FILE* err_;
};

double seconds(Duration duration);
// "a, b and 3 more"
std::string some_of(const std::vector<object::Key>& keys, size_t named = 5);

}  // namespace fairlead::report

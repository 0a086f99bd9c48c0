// Shows a run to people and programs.
//
// This is the room's first header. A report (rollout_report.h, removal_report.h) reads the journal during the run, and
// prints the results at the end, in the format that the user asked for. The room decides nothing and sends no requests
// to a cluster.
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

// Prints text for people. Control characters in it cannot affect the terminal.
void print(std::FILE* stream, std::string_view text);

// True if the stream is a terminal that shows colours, and the user did not ask for none.
bool can_paint(std::FILE* stream);

// The number of objects with the same result.
struct Count {
  std::string_view name;   // for programs, such as "notReady"
  std::string_view words;  // for people, such as "not ready"
  size_t count = 0;
};

// Counts the objects with each of the states in `counted`. `words` returns the name of a state for people.
template <typename Object, typename Counted>
std::vector<Count> counts_of(const std::vector<Object>& objects, const Counted& counted, auto words) {
  std::vector<Count> counts;
  for (const auto& [state, name] : counted)
    counts.push_back(
        {.name = name, .words = words(state), .count = size_t(std::ranges::count(objects, state, &Object::state))});
  return counts;
}

// Returns the part of an object's `-o json` output that rollouts and removals share.
Json object_json(const object::Key& key, const std::string& source, std::string_view outcome);

// The results of a run.
struct Closing {
  std::string_view outcome;
  bool dry_run = false;
  std::vector<Count> counts;
  Duration took{};
  uint64_t requests = 0;
  const std::vector<journal::Cause>& causes;
  // One JSON object per object of the run. Only needed for Format::json.
  Json::Array objects{};
  // More members of the summary for programs, and more text for people: after the totals, and after the causes.
  Json::Object more{};
  std::string totals_end{};
  std::string causes_end{};
};

// Writes to standard output and standard error, or to other streams.
class Output {
 public:
  explicit Output(Format format, std::FILE* out = stdout, std::FILE* err = stderr)
      : format_(format), out_(out), err_(err) {}

  Format format() const { return format_; }
  // Shows an event. `line` is its text for people; if empty, people see nothing. Warnings and errors are shown in the
  // quiet format as well.
  void show(const journal::Event& event, std::string_view line) const;
  void show(const Closing& closing) const;

 private:
  bool is_for_people() const { return format_ == Format::text || format_ == Format::quiet; }

  Format format_;
  std::FILE* out_;
  std::FILE* err_;
};

double seconds(Duration duration);
// For example "a, b and 3 more".
std::string some_of(const std::vector<object::Key>& keys, size_t named = 5);

}  // namespace fairlead::report

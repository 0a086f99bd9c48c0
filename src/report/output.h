// Shows a run to people and programs.
//
// This is the room's first header. A report (rollout_report.h, removal_report.h) reads the journal during the run, and
// prints the results at the end, in the format that the user asked for. The room decides nothing and sends no requests
// to a cluster.
#pragma once

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
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

// What people want to know of the objects: every object is in exactly one tally.
struct Tally {
  std::string_view words;  // "created", "failed"
  // The results that it is made of. They are shown in brackets if they say more than `words`.
  std::array<std::string_view, 4> names{};
};
// Returns "25 objects: 22 created, 1 failed (refused), 2 not tried (blocked)".
std::string tallies_text(std::span<const Tally> tallies, const std::vector<Count>& counts);
// Returns the number of objects in one of the tallies.
uint64_t count_in(const Tally& tally, const std::vector<Count>& counts);

// Returns the part of an object's `-o json` output that rollouts and removals share.
Json object_json(const object::Key& key, const std::string& source, std::string_view outcome);

// The results of a run.
struct Closing {
  std::string_view outcome;
  bool dry_run = false;
  std::vector<Count> counts;
  // The totals for people: "20 created".
  std::string totals;
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

// Writes the results of a run to standard output and standard error, or to other streams.
class Output {
 public:
  // If several runs share the streams, `prefix` begins every line for people, and programs are told the `context`.
  explicit Output(Format format, bool shows_requests = false, std::FILE* out = stdout, std::FILE* err = stderr,
                  std::string prefix = {}, std::string context = {})
      : format_(format),
        shows_requests_(shows_requests),
        out_(out),
        err_(err),
        prefix_(std::move(prefix)),
        context_(std::move(context)) {}

  Format format() const { return format_; }
  // Writes an event for programs, if the format is a stream of events.
  void stream(const journal::Event& event) const;
  void show(const Closing& closing) const;

 private:
  bool is_for_people() const { return format_ == Format::text || format_ == Format::quiet; }
  Json summary_of(const Closing& closing) const;
  void print_lines(std::FILE* stream, std::string_view text) const;

  Format format_;
  bool shows_requests_;
  std::FILE* out_;
  std::FILE* err_;
  std::string prefix_;
  std::string context_;
};

// True if the results of a run were shown. There is at most one document on standard output.
bool has_shown_results();
// Returns the text with `prefix` before each of its lines.
std::string with_prefix(std::string_view text, std::string_view prefix);
// Says that the results will be shown, so that errors before them are no document of their own.
void claim_results();

// Returns the document or line of an error that ended a command before there were results. `errors` is not empty.
std::string error_text(Format format, const std::vector<Error>& errors, std::string_view outcome);

// Returns the text of an error as people read it: "error: …" and the objects that it blocks.
std::string cause_text(const journal::Cause& cause);

double seconds(Duration duration);
// Returns the keys as texts, such as "ConfigMap default/a".
Json keys_json(const std::vector<object::Key>& keys);
// For example "a, b and 3 more".
std::string some_of(const std::vector<object::Key>& keys, size_t named = 5);

}  // namespace fairlead::report

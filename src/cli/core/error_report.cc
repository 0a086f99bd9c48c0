#include "cli/core/error_report.h"

#include <cstdio>
#include <optional>
#include <vector>

#include "cli/core/exit_code.h"
#include "report/github.h"
#include "report/output.h"

namespace fairlead::cli {
namespace {

report::Format& error_format() {
  static report::Format format = report::Format::text;
  return format;
}

// The errors that programs get as one document, at the end.
std::vector<Error>& errors_for_programs() {
  static std::vector<Error> errors;
  return errors;
}

bool is_interruption(const Error& error) { return error.root().kind() == ErrorKind::cancelled; }

std::string_view outcome_of(int exit_code) {
  using journal::Outcome;
  switch (exit_code) {
    case kTimedOut: return name_of(Outcome::timed_out);
    case kConflicts: return name_of(Outcome::conflicts);
    case kUsage: return "usage";
    case kInterrupted: return name_of(Outcome::interrupted);
    default: return name_of(Outcome::failed);
  }
}

}  // namespace

// The value of -o or --output, wherever it is: the command line may be wrong.
void set_error_format(const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    std::string_view word = words[i];
    bool is_flag = word == "-o" || word == "--output";
    std::string_view value;
    if (is_flag && i + 1 < words.size()) value = words[i + 1];
    else if (word.starts_with("--output=")) value = word.substr(9);
    else if (word.starts_with("-o") && !word.starts_with("--")) value = word.substr(word.starts_with("-o=") ? 3 : 2);
    if (value == "json" || value == "jsonl") error_format() = report::format_of(value);
  }
}

int report(const Error& error) {
  static std::optional<report::Github> github = report::Github::from_environment();
  bool is_for_programs = error_format() != report::Format::text && !report::has_shown_results();
  if (is_for_programs) errors_for_programs().push_back(error);
  else report::print(stderr, is_interruption(error) ? "error: interrupted\n" : error.report());
  if (is_interruption(error)) return kInterrupted;
  if (github) github->fail(error);
  return error.kind() == ErrorKind::timeout ? kTimedOut : kFailed;
}

int report_usage_error(const Error& error) {
  report(error);
  return kUsage;
}

void print_errors_for_programs(int exit_code) {
  const std::vector<Error>& errors = errors_for_programs();
  if (errors.empty()) return;
  std::string text = report::error_text(error_format(), errors, outcome_of(exit_code));
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace fairlead::cli

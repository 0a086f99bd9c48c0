// What GitHub Actions shows beside the log of a step: annotations at lines of manifests, and a summary.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"

namespace fairlead::report {

// Returns the command that annotates a line of a file: "::error file=k8s/a.yaml,line=3::text". `where` is "file:line",
// or empty. Escaped, so that no text can end the command or add to it.
std::string annotation(std::string_view level, std::string_view where, std::string_view text);

// Returns a summary in Markdown: a heading, the totals, and each cause as it is printed, whatever it contains.
std::string summary_markdown(std::string_view heading, std::string_view totals,
                             const std::vector<journal::Cause>& causes);

// Returns the text in a form in which no line of it is a command to GitHub's runner.
std::string without_commands(std::string text);

class Github {
 public:
  // Annotations go to `stream`, and the summary is added to the file at `summary_path` (none if it is empty).
  Github(std::FILE* stream, std::string summary_path) : stream_(stream), summary_path_(std::move(summary_path)) {}
  // Returns nothing if the process does not run in GitHub Actions.
  static std::optional<Github> from_environment();

  void warn(const journal::Event& event);
  void fail(const Error& error);
  // Annotates the causes, and writes the summary. A summary that cannot be written is a warning.
  void finish(std::string_view heading, std::string_view totals, const std::vector<journal::Cause>& causes);

 private:
  void annotate(std::string_view level, std::string_view where, std::string_view text);

  std::FILE* stream_;
  std::string summary_path_;
  size_t annotations_ = 0;
};

}  // namespace fairlead::report

// What `fairlead apply` prints: a line an event while it runs, and what came of it at the end.
#pragma once

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"
#include "rollout/rollout.h"

namespace fairlead::cli {

enum class OutputFormat { text, json, jsonl, quiet };

class ApplyOutput {
 public:
  ApplyOutput(OutputFormat format, bool dry_run) : format_(format), dry_run_(dry_run) {}

  // A reader of the journal.
  void read(const journal::Event& event);
  void finish(const rollout::Ending& ending) const;

 private:
  void print_line(const journal::Event& event);

  OutputFormat format_;
  bool dry_run_;
  // What holds objects is told once, however many it holds.
  std::set<std::string> told_;
};

// A line, in the colour of its kind where it goes to a terminal.
void print_coloured(std::FILE* stream, journal::What what, const std::string& line);
// What did not work on standard error, with what could not go on without it; and the same for machines.
void print_cause(const Error& error, const std::vector<object::Key>& holds);
Json cause_json(const Error& error, const std::vector<object::Key>& holds);

OutputFormat output_format(std::string_view name);

// Every event as a line of JSON into a file.
class JournalFile {
 public:
  static Result<std::unique_ptr<JournalFile>> open(const std::string& path);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;
  void read(const journal::Event& event);

 private:
  explicit JournalFile(std::FILE* file) : file_(file) {}
  std::FILE* file_;
};

}  // namespace fairlead::cli

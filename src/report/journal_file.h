// Writes every event of a run to a file, as one line of JSON each.
#pragma once

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "journal/journal.h"

namespace fairlead::report {

class JournalFile {
 public:
  static Result<std::unique_ptr<JournalFile>> open(std::string path);
  ~JournalFile();
  JournalFile(const JournalFile&) = delete;
  JournalFile& operator=(const JournalFile&) = delete;

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  // Fails if not everything could be written, for example because the disk is full.
  Result<void> close();

 private:
  JournalFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::FILE* file_;
  std::optional<Error> failure_;
};

}  // namespace fairlead::report

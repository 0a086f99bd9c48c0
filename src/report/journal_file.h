// Every event of a run as a line of JSON in a file.
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

  // A reader of the journal.
  void read(const journal::Event& event);
  // An error where not all of it could be written: the disk may be full.
  Result<void> close();

 private:
  JournalFile(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::FILE* file_;
  std::optional<Error> failure_;
};

}  // namespace fairlead::report

// Tells what `fairlead retry` does, in lines that begin with "fairlead:", on the standard error that the command has
// too.
#pragma once

#include <cstdio>
#include <set>
#include <string>
#include <string_view>

#include "journal/journal.h"
#include "retry/retry.h"

namespace fairlead::report {

class RetryReport {
 public:
  // `quiet`: only errors are told.
  explicit RetryReport(bool quiet, std::FILE* err = stderr) : quiet_(quiet), err_(err) {}

  // Call it for every event of the journal.
  void read(const journal::Event& event);
  void finish(const retry::Ending& ending);

 private:
  void say(const std::string& text);
  // True if the text is part of something that was said.
  bool has_said(std::string_view text) const;

  bool quiet_;
  std::FILE* err_;
  // What was said since the command last ended: a cause that comes back is not news.
  std::set<std::string> said_;
};

}  // namespace fairlead::report

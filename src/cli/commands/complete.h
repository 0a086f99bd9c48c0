// What could come next on a command line: the engine behind the shells' completion.
#pragma once

#include <string>
#include <vector>

#include "cli/core/flags.h"

namespace fairlead::cli {

struct Candidate {
  std::string word;
  std::string description;
};

struct Candidates {
  std::vector<Candidate> words;
  // The shell should offer file names as well.
  bool files = false;
};

// `words` are those after the program's name; the last is the one being typed, possibly empty.
// `values_of` gives the values that only the user's files or the cluster know (context names, bundle names), by the
// name of the option ("--context") or of the positional argument ("NAME").
Candidates complete(Command app, const std::vector<std::string>& words,
                    const std::function<std::vector<std::string>(const std::string& option)>& values_of);

}  // namespace fairlead::cli

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
// `values_of` gives the values of an option that only the user's files know (context names), by the option's name.
Candidates complete(const CLI::App& app, const std::vector<std::string>& words,
                    const std::function<std::vector<std::string>(const std::string& option)>& values_of);

}  // namespace fairlead::cli

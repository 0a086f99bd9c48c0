// A line for people.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::report {

enum class Tone {
  plain,
  good,     // something is done
  quiet,    // background
  trouble,  // something is wrong, and may still become right
  bad,      // something has failed
};

struct Line {
  std::string text;
  Tone tone = Tone::plain;
  // A warning or an error. It goes to standard error, and is shown even if the user wants no progress.
  bool is_problem = false;

  bool operator==(const Line&) const = default;
};

// Returns the escape sequence that switches to the tone's colour, or an empty text.
std::string_view colour_of(Tone tone);

}  // namespace fairlead::report

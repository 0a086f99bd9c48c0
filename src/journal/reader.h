// Reads journals that were written to a file, by --journal or with `-o jsonl`.
//
// A journal may come from anywhere, and may have been cut off: a run that was killed leaves one without an end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "journal/journal.h"

namespace fairlead::journal {

struct Recording {
  std::vector<Event> events;
  // True if the last line is not complete. That line is not among the events.
  bool is_cut_off = false;
  // True if the run ended. Otherwise it was killed, or is still running.
  bool has_ended = false;
};

// Reads one line. The summary of `-o jsonl` becomes an `ended` event. An event of an unknown kind becomes a note.
Result<Event> event_of(const Json& line);

// Reads a whole journal. `name` names it in errors, which carry the number of the line. Fails if a line other than the
// last is no event, or if there is none.
Result<Recording> read_journal(std::string_view text, const std::string& name);

}  // namespace fairlead::journal

// Makes a web page from the journal of a run: when each object was sent, stored and ready, and what it waited for.
//
// This is the room's first header. A Timeline reads events, of a run that is under way or of a journal that was written
// before, and returns one page of HTML. The page needs nothing from elsewhere, and runs no script but its own. The room
// decides nothing about the run, and reads nothing but events.
#pragma once

#include <string>

#include "base/json.h"
#include "journal/journal.h"
#include "timeline/model.h"

namespace fairlead::timeline {

class Timeline {
 public:
  // Call it for every event of the journal, and ask the journal for Detail::full.
  void read(const journal::Event& event) { model_.read(event); }
  // Adds a remark about the journal itself, such as that it is not complete.
  void remark(std::string text) { model_.remark(std::move(text)); }

  size_t object_count() const { return model_.object_count(); }
  // Returns the page. Everything in it that came from the journal is data, never markup or script.
  std::string page() const;

 private:
  Model model_;
};

// Returns what the page's script reads (page/page.js describes the form).
Json data_of(const Model& model);
// Returns JSON that cannot end the script element in which it stands.
std::string script_text(const Json& json);

}  // namespace fairlead::timeline

// The events of a run, as they happen: one writer, many readers.
//
// This is the room's first header. An engine adds events. Readers, such as the terminal, the JSON lines and the
// reports, get each event when it is added. Events tell people and programs what happened to an object or a guard, and
// why. Engines never read them back. The journal removes every secret that it knows of from the texts and errors of
// events.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secrets.h"
#include "object/key.h"

namespace fairlead::journal {

enum class EventKind {
  started,   // the run has started
  note,      // good to know, such as an object that is exempt from a webhook
  warning,   // a warning of the API server or of Fairlead
  stored,    // the API server has the object; `state` is created, changed or unchanged
  parked,    // the object cannot be stored yet; `text` says what blocks it
  progress,  // an object that is waited for has changed
  ready,     // the object is ready
  failed,
  guard,    // a guard has moved up or down a rung; `state` is the rung
  waiting,  // the run is still waiting; `text` says for what
  removed,  // the object was deleted
  error,    // an API request failed; `text` says what happens next
  ended,    // the run has ended
};
// Returns the name that JSON output uses, such as "stored".
std::string_view name_of(EventKind kind);

struct Event {
  EventKind kind = EventKind::note;
  // The time since the run started. The journal sets it.
  Duration at{};
  // The object that the event is about. It has no kind if the event is about the run or a guard.
  object::Key key;
  // The origin of the object, as file:line.
  std::string source;
  // One word that specifies `kind`.
  std::string state;
  std::string text;
  std::optional<Error> error;
  // More facts for programs. Null, or a JSON object.
  Json details;
};

// An error of a run, and the objects that it blocks.
struct Cause {
  Error error;
  std::vector<object::Key> blocks;
};

class Journal {
 public:
  using Reader = std::function<void(const Event& event)>;

  // The clock must outlive the journal.
  explicit Journal(const Clock& clock) : clock_(clock), started_(clock.now()) {}

  // add() calls the readers, in the order in which they were added.
  void read_by(Reader reader) { readers_.push_back(std::move(reader)); }
  void add(Event event);
  // Removes these secrets from the texts and errors of all later events.
  void hide(const Secrets& secrets) { secrets_.hide(secrets); }
  void hide(std::string_view secret) { secrets_.hide(secret); }
  const Secrets& secrets() const { return secrets_; }

  Duration elapsed() const { return clock_.now() - started_; }

 private:
  const Clock& clock_;
  TimePoint started_;
  std::vector<Reader> readers_;
  Secrets secrets_;
};

// Returns one line of `-o jsonl`. docs/journal.md has the schema.
Json to_json(const Event& event);
Json to_json(const Error& error);
Json to_json(const Cause& cause);

}  // namespace fairlead::journal
